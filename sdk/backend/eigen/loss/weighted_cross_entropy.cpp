#include <algorithm>
#include <cmath>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/common/row_exponentials.h"
#include "sdk/backend/eigen/loss/loss.h"
#include "sdk/backend/eigen/loss/weights.h"

namespace frugal {
namespace eigen {
namespace {

using Options = LossKernels::WeightedCrossEntropyOptions;

// Holds what all rows share.
template <class T>
struct Rows {
  const Options& options;
  const T* logits;
  const std::int64_t* labels;
  std::int64_t count, classes;
  const T* class_weights;
  SampleWeights<T> sample_weights;
  double all_weights = 0;  // of all classes together, for smoothing

  Rows(const Tensor& x, const Tensor& targets, const Options& given)
      : options(given),
        logits(x.data<T>()),
        labels(targets.data<std::int64_t>()),
        count(targets.size()),
        classes(x.shape().back()),
        class_weights(DataOrNull<T>(given.class_weights)),
        sample_weights(given.sample_weights, targets.size()) {
    for (std::int64_t j = 0; j < classes; ++j) all_weights += WeightOf(j);
  }

  bool Counts(std::int64_t row) const { return labels[row] != options.ignore_index; }
  double WeightOf(std::int64_t label) const {
    return class_weights != nullptr ? static_cast<double>(class_weights[label]) : 1.0;
  }
  const T* Row(std::int64_t row) const { return logits + row * classes; }

  // The weights of the labels that count. Throws DataError on a label that is none.
  double Total() const {
    double total = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      if (!Counts(row)) continue;
      RequireLabel("cross entropy", labels[row], row, classes);
      total += WeightOf(labels[row]);
    }
    return total;
  }
  double OneOverTotal() const {
    const double total = Total();
    return total == 0 ? 0 : 1 / total;
  }

  double LossOf(std::int64_t row, double log_sum_exp) const {
    const T* x = Row(row);
    const double miss = log_sum_exp - static_cast<double>(x[labels[row]]);  // -log p
    double loss = WeightOf(labels[row]) * Focus(miss) * miss;
    if (options.label_smoothing > 0) {
      double sum = 0;
      for (std::int64_t j = 0; j < classes; ++j) {
        sum += WeightOf(j) * (log_sum_exp - static_cast<double>(x[j]));
      }
      loss = (1 - options.label_smoothing) * loss +
             options.label_smoothing / static_cast<double>(classes) * sum;
    }
    return sample_weights.OfRow(row) * loss;
  }

  // (1 - p)^focusing
  double Focus(double miss) const {
    return options.focusing == 0 ? 1 : std::pow(-std::expm1(-miss), options.focusing);
  }
  // The derivative of Focus(miss) * miss by miss.
  double Slope(double miss) const {
    if (options.focusing == 0) return 1;
    const double wrong = -std::expm1(-miss);  // 1 - p
    const double focus = std::pow(wrong, options.focusing);
    // Both ends of p are limits: 0^(focusing - 1) times a miss of 0, and infinity times a p of 0.
    if (miss == 0 || std::isinf(miss)) return focus;
    return focus +
           options.focusing * std::pow(wrong, options.focusing - 1) * std::exp(-miss) * miss;
  }

  // dx = scale * the gradient of LossOf(row); the gradient of -log p[k] by x[j] is
  // p[j] - (j is k).
  void WriteGradient(std::int64_t row, double log_sum_exp, double scale, T* dx) const {
    const T* x = Row(row);
    const std::int64_t label = labels[row];
    const double smoothing = options.label_smoothing;
    const double spread = smoothing / static_cast<double>(classes);
    const double miss = log_sum_exp - static_cast<double>(x[label]);
    const double hit = (1 - smoothing) * WeightOf(label) * Slope(miss);
    const double factor = scale * sample_weights.OfRow(row);
    for (std::int64_t j = 0; j < classes; ++j) {
      const double p = std::exp(static_cast<double>(x[j]) - log_sum_exp);
      const double one = j == label ? 1 : 0;
      double slope = hit * (p - one);
      if (spread > 0) slope += spread * (all_weights * p - WeightOf(j));
      dx[j] = static_cast<T>(factor * slope);
    }
  }
};

}  // namespace
}  // namespace eigen

void EigenLossKernels::WeightedCrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                                   const WeightedCrossEntropyOptions& options,
                                                   const Tensor& log_sum_exp, const Tensor& loss) {
  eigen::WithFloating("weighted cross entropy", logits.dtype(), [&]<class T>() {
    const eigen::Rows<T> rows(logits, targets, options);
    T* logarithms = log_sum_exp.data<T>();
    const double factor = rows.OneOverTotal();
    const auto add_rows = [&](std::int64_t begin, std::int64_t end) {
      double sum = 0;
      for (std::int64_t row = begin; row < end; ++row) {
        logarithms[row] = T{0};
        if (!rows.Counts(row)) continue;
        const double logarithm = eigen::LogSumExp(rows.Row(row), rows.classes);
        logarithms[row] = static_cast<T>(logarithm);
        sum += rows.LossOf(row, logarithm);
      }
      return sum;
    };
    const double sum = eigen::ParallelSum(rows.count, eigen::RowsPerChunk(rows.classes), add_rows);
    loss.data<T>()[0] = static_cast<T>(factor == 0 ? 0 : factor * sum);
  });
}

void EigenLossKernels::WeightedCrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                                    const Tensor& targets,
                                                    const WeightedCrossEntropyOptions& options,
                                                    const Tensor& log_sum_exp,
                                                    const Tensor& dlogits) {
  eigen::WithFloating("weighted cross entropy, backward", logits.dtype(), [&]<class T>() {
    const eigen::Rows<T> rows(logits, targets, options);
    const double factor = rows.OneOverTotal() * static_cast<double>(dloss.data<T>()[0]);
    const auto write = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        T* dx = dlogits.data<T>() + row * rows.classes;
        if (!rows.Counts(row) || factor == 0) {
          std::fill_n(dx, rows.classes, T{0});
          continue;
        }
        const auto logarithm = static_cast<double>(log_sum_exp.data<T>()[row]);
        rows.WriteGradient(row, logarithm, factor, dx);
      }
    };
    ParallelFor(rows.count, eigen::RowsPerChunk(rows.classes), write);
  });
}

}  // namespace frugal
