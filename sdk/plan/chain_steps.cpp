#include "sdk/plan/chain_steps.h"

#include <algorithm>
#include <cmath>

namespace frugal {
namespace {

using std::int64_t;

// Sums of equal times in another order differ by their last digits: steps that are no faster than
// by that are none.
constexpr double kSame = 1 - 1e-14;

}  // namespace

double SecondsWithin(std::span<const ChainStep> steps, int64_t bytes) {
  const auto behind = std::ranges::upper_bound(steps, bytes, {}, &ChainStep::bytes);
  return behind == steps.begin() ? kNeverSeconds : (behind - 1)->seconds;
}

void FastestSteps::Take(double seconds, int64_t least_bytes, const ChainPart& one,
                        const ChainPart& other) {
  if (one.steps.empty() || other.steps.empty()) return;
  const ChainStep* a = one.steps.data();
  const ChainStep* b = other.steps.data();
  const ChainStep* const a_last = a + one.steps.size() - 1;
  const ChainStep* const b_last = b + other.steps.size() - 1;
  // Nothing is taken from the bytes on at which what is known is as fast as this can be at all.
  const double fastest = seconds + (a_last->seconds + b_last->seconds);
  const auto as_fast = std::ranges::partition_point(
      steps_, [&](const ChainStep& step) { return fastest < step.seconds * kSame; });
  const int64_t end = as_fast == steps_.end() ? limit_bytes_ + 1 : as_fast->bytes;
  int64_t bytes = std::max({least_bytes, a->bytes + one.beside, b->bytes + other.beside});
  if (bytes >= end) return;
  auto known = std::ranges::upper_bound(steps_.begin(), as_fast, bytes, {}, &ChainStep::bytes);
  double best = known == steps_.begin() ? kNeverSeconds : (known - 1)->seconds;
  const auto next_of = [&](const ChainStep* step, const ChainStep* last, int64_t beside) {
    return step == last ? end : step[1].bytes + beside;
  };
  int64_t next_a = next_of(a, a_last, one.beside), next_b = next_of(b, b_last, other.beside);
  taken_.clear();
  while (bytes < end) {
    while (next_a <= bytes) next_a = next_of(++a, a_last, one.beside);
    while (next_b <= bytes) next_b = next_of(++b, b_last, other.beside);
    const double sum = seconds + (a->seconds + b->seconds);
    while (known != as_fast && known->bytes <= bytes) best = (known++)->seconds;
    if (sum < best * kSame) {
      taken_.push_back({bytes, sum});
      best = sum;
    }
    bytes = std::min(next_a, next_b);
  }
  Merge();
}

void FastestSteps::Merge() {
  if (taken_.empty()) return;
  merged_.clear();
  auto a = steps_.begin(), b = taken_.begin();
  double best = kNeverSeconds;
  while (a != steps_.end() || b != taken_.end()) {
    const bool is_known = b == taken_.end() || (a != steps_.end() && a->bytes <= b->bytes);
    const ChainStep& next = is_known ? *a++ : *b++;
    if (!merged_.empty() && next.seconds >= best * kSame) continue;
    if (!merged_.empty() && merged_.back().bytes == next.bytes) merged_.pop_back();
    merged_.push_back(next);
    best = next.seconds;
  }
  steps_.swap(merged_);
}

// Widths of what becomes one step are a share of the limit for bounds, which are asked for near it,
// and of a step's own bytes for schedules, which are asked for within any. The least bytes stay.
void FastestSteps::Thin(std::size_t most, StepRounding rounding) {
  const bool is_down = rounding == StepRounding::kDown;
  const auto width_of = [&](const ChainStep& step, double share) {
    return share * static_cast<double>(is_down ? limit_bytes_ : step.bytes);
  };
  most = std::max<std::size_t>(2, most);
  for (double share = 0.5 / static_cast<double>(most); steps_.size() > most; share *= 1.25) {
    merged_.clear();
    if (!is_down) merged_.push_back(steps_.front());
    for (std::size_t i = merged_.size(); i < steps_.size();) {
      const double width = width_of(steps_[i], share);
      std::size_t last = i;
      while (last + 1 < steps_.size() &&
             static_cast<double>(steps_[last + 1].bytes - steps_[i].bytes) <= width) {
        ++last;
      }
      merged_.push_back({steps_[is_down ? i : last].bytes, steps_[last].seconds});
      i = last + 1;
    }
    steps_.swap(merged_);
  }
}

}  // namespace frugal
