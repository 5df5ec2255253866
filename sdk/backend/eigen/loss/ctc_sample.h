#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "sdk/backend/common/row_exponentials.h"

// Sums over all ways along T steps to the labels of one sample, as logarithms. A state is a label
// or one of the blanks before, between and behind them.
namespace frugal::eigen {

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b))
inline double LogAdd(double a, double b) {
  const double largest = a > b ? a : b;
  if (largest == kImpossible) return a + b;  // NaN stays NaN
  return largest + std::log(std::exp(a - largest) + std::exp(b - largest));
}

template <class T>
struct CtcSample {
  const T* logits;  // [steps, classes]
  std::int64_t steps, classes;
  std::span<const std::int64_t> labels;
  std::int64_t blank;

  std::int64_t label_count() const { return std::ssize(labels); }
  std::int64_t states() const { return 2 * label_count() + 1; }
  std::int64_t Label(std::int64_t i) const { return labels[static_cast<std::size_t>(i)]; }
  std::int64_t ClassOf(std::int64_t state) const {
    return state % 2 == 0 ? blank : Label(state / 2);
  }
  // True where a way may go from state - 2 to state: past a blank, between labels that differ.
  bool MaySkipTo(std::int64_t state) const {
    return state % 2 == 1 && state >= 2 && Label(state / 2) != Label(state / 2 - 1);
  }
  double LogSum(std::int64_t step) const { return LogSumExp(logits + step * classes, classes); }
  double LogProbability(std::int64_t step, std::int64_t state, double log_sum) const {
    return static_cast<double>(logits[step * classes + ClassOf(state)]) - log_sum;
  }

  // now[s] = log of the probability of all ways that are in state s behind the first step.
  void Start(double log_sum, double* now) const {
    for (std::int64_t s = 0; s < states(); ++s) {
      now[s] = s < 2 ? LogProbability(0, s, log_sum) : kImpossible;
    }
  }
  // Does the same behind `step` > 0, from what was there before it.
  void Advance(std::int64_t step, double log_sum, const double* before, double* now) const {
    for (std::int64_t s = 0; s < states(); ++s) {
      double ways = before[s];
      if (s > 0) ways = LogAdd(ways, before[s - 1]);
      if (MaySkipTo(s)) ways = LogAdd(ways, before[s - 2]);
      now[s] = ways + LogProbability(step, s, log_sum);
    }
  }
  // now[s] = log of the probability of all ways on from state s at `step`, behind its own output.
  void End(double* now) const {
    for (std::int64_t s = 0; s < states(); ++s) now[s] = s >= states() - 2 ? 0 : kImpossible;
  }
  void Retreat(std::int64_t step, double log_sum_behind, const double* behind, double* now) const {
    const auto way = [&](std::int64_t to) {
      return behind[to] + LogProbability(step + 1, to, log_sum_behind);
    };
    for (std::int64_t s = 0; s < states(); ++s) {
      double ways = way(s);
      if (s + 1 < states()) ways = LogAdd(ways, way(s + 1));
      if (s + 2 < states() && MaySkipTo(s + 2)) ways = LogAdd(ways, way(s + 2));
      now[s] = ways;
    }
  }
  // The log of the probability of all ways, from what is there behind the last step.
  double Total(const double* last) const {
    return labels.empty() ? last[0] : LogAdd(last[states() - 1], last[states() - 2]);
  }
};

}  // namespace frugal::eigen
