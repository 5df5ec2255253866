#include <algorithm>
#include <span>
#include <string>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/loss/ctc_sample.h"
#include "sdk/backend/eigen/loss/loss.h"
#include "sdk/backend/eigen/loss/weights.h"
#include "sdk/core/error.h"

namespace frugal {
namespace eigen {
namespace {

// Numbers of scratch for one sample.
std::int64_t ScratchOfSample(std::int64_t steps, std::int64_t most_labels, bool backward) {
  const std::int64_t states = 2 * most_labels + 1;
  return backward ? steps * states + steps + 2 * states : 2 * states;
}

// A batch, with the samples found in it.
template <class T>
struct CtcBatch {
  const CtcOptions& options;
  const T* logits;
  std::span<const std::int64_t> labels;
  std::int64_t samples, steps, classes, most_labels;
  SampleWeights<T> weights;

  CtcBatch(const Tensor& x, const Tensor& targets, const CtcOptions& given)
      : options(given),
        logits(x.data<T>()),
        labels(targets.values<std::int64_t>()),
        samples(x.shape()[0]),
        steps(x.shape()[1]),
        classes(x.shape()[2]),
        most_labels(targets.shape()[1]),
        weights(given.sample_weights, samples) {
    for (std::int64_t i = 0; i < samples; ++i) Check(i);
  }

  // Returns the labels of a sample with their padding.
  std::span<const std::int64_t> Row(std::int64_t i) const {
    return labels.subspan(static_cast<std::size_t>(i * most_labels),
                          static_cast<std::size_t>(most_labels));
  }
  CtcSample<T> Sample(std::int64_t i) const {
    const std::span<const std::int64_t> row = Row(i);
    const auto count = std::ranges::find(row, options.padding) - row.begin();
    return {.logits = logits + i * steps * classes,
            .steps = steps,
            .classes = classes,
            .labels = row.first(static_cast<std::size_t>(count)),
            .blank = options.blank};
  }
  // Returns how much a sample's -log probability counts in the loss.
  double FactorOf(std::int64_t i) const {
    const auto count = static_cast<double>(std::max<std::int64_t>(1, Sample(i).label_count()));
    return weights.OfRow(i) / (count * static_cast<double>(samples));
  }
  double* ScratchOf(std::int64_t i, void* scratch, bool backward) const {
    return static_cast<double*>(scratch) + i * ScratchOfSample(steps, most_labels, backward);
  }

 private:
  [[noreturn]] static void Refuse(std::int64_t i, const std::string& required,
                                  const std::string& given, const std::string& advice) {
    throw DataError({.where = "ctc",
                     .required = required,
                     .given = "sample " + std::to_string(i) + " of the batch has " + given,
                     .advice = advice});
  }

  void Check(std::int64_t i) const {
    const CtcSample<T> sample = Sample(i);
    for (const std::int64_t label : sample.labels) {
      if (label >= 0 && label < classes && label != options.blank) continue;
      Refuse(i,
             "every label from 0 to " + std::to_string(classes - 1) + " but the blank " +
                 std::to_string(options.blank),
             "label " + std::to_string(label),
             "correct the labels, or set blank and ignore_index in [loss]");
    }
    for (const std::int64_t behind : Row(i).subspan(sample.labels.size())) {
      if (behind == options.padding) continue;
      Refuse(i, "nothing but padding (ignore_index) follows padding",
             "label " + std::to_string(behind) + " behind it", "move the padding to the end");
    }
    if (!options.zero_infinity) CheckLength(i, sample);
  }

  // Two like labels need a blank between them.
  void CheckLength(std::int64_t i, const CtcSample<T>& sample) const {
    std::int64_t needed = sample.label_count();
    for (std::int64_t j = 1; j < sample.label_count(); ++j) {
      if (sample.Label(j) == sample.Label(j - 1)) ++needed;
    }
    if (needed <= steps) return;
    Refuse(i, "a step for each label, and one more between two that are alike",
           std::to_string(sample.label_count()) + " labels, which take " + std::to_string(needed) +
               " steps, and the network makes " + std::to_string(steps),
           "let the network make more steps, leave such samples out, or set zero_infinity = true");
  }
};

// The log of the probability of a sample; keeps all states behind every step where there is a place
// for them, and else uses two rows.
template <class T>
double LogProbabilityOf(const CtcSample<T>& sample, double* rows, double* log_sums) {
  const std::int64_t states = sample.states();
  double* now = rows;
  for (std::int64_t t = 0; t < sample.steps; ++t) {
    const double log_sum = sample.LogSum(t);
    if (log_sums != nullptr) log_sums[t] = log_sum;
    if (t == 0) {
      sample.Start(log_sum, now);
      continue;
    }
    const double* before = now;
    now = rows + (log_sums != nullptr ? t : t % 2) * states;
    sample.Advance(t, log_sum, before, now);
  }
  return sample.Total(now);
}

// dx[step] = factor * (softmax - the share of ways that output each class at the step)
template <class T>
void WriteStep(const CtcSample<T>& sample, std::int64_t step, double log_sum, const double* ahead,
               const double* behind, double total, double factor, T* dx) {
  const T* x = sample.logits + step * sample.classes;
  for (std::int64_t k = 0; k < sample.classes; ++k) {
    dx[k] = static_cast<T>(factor * std::exp(static_cast<double>(x[k]) - log_sum));
  }
  for (std::int64_t s = 0; s < sample.states(); ++s) {
    dx[sample.ClassOf(s)] -= static_cast<T>(factor * std::exp(ahead[s] + behind[s] - total));
  }
}

template <class T>
void WriteGradient(const CtcSample<T>& sample, bool zero_infinity, double factor, double* scratch,
                   T* dx) {
  const std::int64_t states = sample.states();
  double* ahead = scratch;
  double* log_sums = ahead + sample.steps * states;
  double* now = log_sums + sample.steps;
  double* behind = now + states;
  const double total = LogProbabilityOf(sample, ahead, log_sums);
  if (zero_infinity && total == kImpossible) {
    std::fill_n(dx, sample.steps * sample.classes, T{0});
    return;
  }
  sample.End(now);
  for (std::int64_t t = sample.steps - 1; t >= 0; --t) {
    if (t < sample.steps - 1) {
      std::swap(now, behind);
      sample.Retreat(t, log_sums[t + 1], behind, now);
    }
    WriteStep(sample, t, log_sums[t], ahead + t * states, now, total, factor,
              dx + t * sample.classes);
  }
}

}  // namespace
}  // namespace eigen

std::int64_t LossKernels::CtcScratchBytes(const Shape& logits, const Shape& labels, bool backward) {
  const std::int64_t numbers = eigen::ScratchOfSample(logits[1], labels[1], backward);
  return logits[0] * numbers * static_cast<std::int64_t>(sizeof(double));
}

void EigenLossKernels::CtcForward(const Tensor& logits, const Tensor& labels,
                                  const CtcOptions& options, void* scratch, const Tensor& loss) {
  eigen::WithFloating("ctc", logits.dtype(), [&]<class T>() {
    const eigen::CtcBatch<T> batch(logits, labels, options);
    const auto add_samples = [&](std::int64_t begin, std::int64_t end) {
      double sum = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const double total =
            eigen::LogProbabilityOf(batch.Sample(i), batch.ScratchOf(i, scratch, false), nullptr);
        if (options.zero_infinity && total == eigen::kImpossible) continue;
        sum += batch.FactorOf(i) * -total;
      }
      return sum;
    };
    loss.data<T>()[0] = static_cast<T>(eigen::ParallelSum(batch.samples, 1, add_samples));
  });
}

void EigenLossKernels::CtcBackward(const Tensor& dloss, const Tensor& logits, const Tensor& labels,
                                   const CtcOptions& options, void* scratch,
                                   const Tensor& dlogits) {
  eigen::WithFloating("ctc, backward", logits.dtype(), [&]<class T>() {
    const eigen::CtcBatch<T> batch(logits, labels, options);
    const auto upstream = static_cast<double>(dloss.data<T>()[0]);
    ParallelFor(batch.samples, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        eigen::WriteGradient(batch.Sample(i), options.zero_infinity, upstream * batch.FactorOf(i),
                             batch.ScratchOf(i, scratch, true),
                             dlogits.data<T>() + i * batch.steps * batch.classes);
      }
    });
  });
}

}  // namespace frugal
