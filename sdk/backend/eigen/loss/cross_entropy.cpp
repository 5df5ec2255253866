#include <algorithm>
#include <atomic>
#include <string>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/common/row_exponentials.h"
#include "sdk/backend/eigen/loss/loss.h"
#include "sdk/core/error.h"

namespace frugal {
namespace eigen {
namespace {

using Options = LossKernels::CrossEntropyOptions;

// How many rows count. Throws DataError on the first target outside [0, classes).
std::int64_t CountRows(const Tensor& targets, std::int64_t classes, const Options& options) {
  const auto* labels = targets.data<std::int64_t>();
  std::int64_t counted = 0;
  for (std::int64_t row = 0; row < targets.size(); ++row) {
    if (labels[row] == options.ignore_index) continue;
    if (labels[row] < 0 || labels[row] >= classes) {
      throw DataError(
          {.where = "cross entropy",
           .required = "every label from 0 to " + std::to_string(classes - 1),
           .given = "label " + std::to_string(labels[row]) + " in row " + std::to_string(row),
           .advice = "correct the labels or give the model's last layer more outputs"});
    }
    ++counted;
  }
  return counted;
}

// -sum over classes of (target distribution) * log softmax(x)
template <class T>
double RowLoss(const T* x, std::int64_t classes, std::int64_t label, double smoothing,
               double log_sum_exp) {
  const double hit = log_sum_exp - static_cast<double>(x[label]);
  if (smoothing == 0) return hit;
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < classes; ++j) sum += static_cast<double>(x[j]);
  const double mean = log_sum_exp - sum / static_cast<double>(classes);
  return (1 - smoothing) * hit + smoothing * mean;
}

template <class T>
void Forward(const Tensor& logits, const Tensor& targets, const Options& options,
             const Tensor& log_sum_exp, const Tensor& loss) {
  const std::int64_t classes = logits.shape().back();
  const std::int64_t counted = CountRows(targets, classes, options);
  const auto* labels = targets.data<std::int64_t>();
  T* logarithms = log_sum_exp.data<T>();
  const auto add_rows = [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      logarithms[row] = T{0};
      if (labels[row] == options.ignore_index) continue;
      const T* x = logits.data<T>() + row * classes;
      const double logarithm = LogSumExp(x, classes);
      logarithms[row] = static_cast<T>(logarithm);
      sum += RowLoss(x, classes, labels[row], options.label_smoothing, logarithm);
    }
    return sum;
  };
  const double sum = ParallelSum(targets.size(), RowsPerChunk(classes), add_rows);
  loss.data<T>()[0] = static_cast<T>(counted == 0 ? 0.0 : sum / static_cast<double>(counted));
}

// dlogits = scale (softmax - target distribution), dlogits may be x.
template <class T>
void GradientRow(const T* x, std::int64_t classes, std::int64_t label, double smoothing,
                 T log_sum_exp, T scale, T* dx) {
  const auto spread = static_cast<T>(smoothing / static_cast<double>(classes));
  for (std::int64_t j = 0; j < classes; ++j) {
    dx[j] = scale * (std::exp(x[j] - log_sum_exp) - spread);
  }
  dx[label] -= scale * static_cast<T>(1 - smoothing);
}

template <class T>
void Backward(const Tensor& dloss, const Tensor& logits, const Tensor& targets,
              const Options& options, const Tensor& log_sum_exp, const Tensor& dlogits) {
  const std::int64_t classes = logits.shape().back();
  const std::int64_t counted = CountRows(targets, classes, options);
  const auto* labels = targets.data<std::int64_t>();
  const auto scale = static_cast<T>(static_cast<double>(dloss.data<T>()[0]) /
                                    static_cast<double>(std::max<std::int64_t>(1, counted)));
  ParallelFor(targets.size(), RowsPerChunk(classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      T* dx = dlogits.data<T>() + row * classes;
      if (labels[row] == options.ignore_index) {
        std::fill_n(dx, classes, T{0});
      } else {
        GradientRow(logits.data<T>() + row * classes, classes, labels[row], options.label_smoothing,
                    log_sum_exp.data<T>()[row], scale, dx);
      }
    }
  });
}

// Returns true where x[label] is larger than all before it and not smaller than any after it.
template <class T>
bool IsLargest(const T* x, std::int64_t classes, std::int64_t label) {
  if (label < 0 || label >= classes) return false;
  const T value = x[label];
  bool largest = value == value;
  for (std::int64_t j = 0; j < label; ++j) largest = largest && value > x[j];
  for (std::int64_t j = label + 1; j < classes; ++j) largest = largest && value >= x[j];
  return largest;
}

template <class T>
LossKernels::CrossEntropySums InPlace(const Tensor& logits, const Tensor& targets,
                                      const Options& options, double factor) {
  const std::int64_t columns = logits.shape().back();
  const std::int64_t classes = options.classes > 0 ? options.classes : columns;
  CountRows(targets, classes, options);  // refuses wrong labels before anything is written
  const auto* labels = targets.data<std::int64_t>();
  std::atomic<std::int64_t> correct = 0;
  const auto run_rows = [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      T* x = logits.data<T>() + row * columns;
      std::fill_n(x + classes, columns - classes, T{0});
      if (labels[row] == options.ignore_index) {
        std::fill_n(x, classes, T{0});
        continue;
      }
      if (IsLargest(x, classes, labels[row])) ++correct;
      const double logarithm = LogSumExp(x, classes);
      sum += RowLoss(x, classes, labels[row], options.label_smoothing, logarithm);
      GradientRow(x, classes, labels[row], options.label_smoothing, static_cast<T>(logarithm),
                  static_cast<T>(factor), x);
    }
    return sum;
  };
  const double loss = ParallelSum(targets.size(), RowsPerChunk(classes), run_rows);
  return {loss, correct};
}

}  // namespace
}  // namespace eigen

void EigenLossKernels::CrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                           CrossEntropyOptions options, const Tensor& log_sum_exp,
                                           const Tensor& loss) {
  eigen::WithFloating("cross entropy", logits.dtype(), [&]<class T>() {
    eigen::Forward<T>(logits, targets, options, log_sum_exp, loss);
  });
}

void EigenLossKernels::CrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                            const Tensor& targets, CrossEntropyOptions options,
                                            const Tensor& log_sum_exp, const Tensor& dlogits) {
  eigen::WithFloating("cross entropy backward", logits.dtype(), [&]<class T>() {
    eigen::Backward<T>(dloss, logits, targets, options, log_sum_exp, dlogits);
  });
}

LossKernels::CrossEntropySums EigenLossKernels::CrossEntropyInPlace(const Tensor& logits,
                                                                    const Tensor& targets,
                                                                    CrossEntropyOptions options,
                                                                    double factor) {
  CrossEntropySums sums;
  eigen::WithFloating("cross entropy", logits.dtype(), [&]<class T>() {
    sums = eigen::InPlace<T>(logits, targets, options, factor);
  });
  return sums;
}

std::int64_t EigenLossKernels::CountCorrect(const Tensor& x, const Tensor& targets) {
  const std::int64_t classes = x.shape().back();
  std::int64_t correct = 0;
  eigen::WithFloating("accuracy", x.dtype(), [&]<class T>() {
    const auto count_rows = [&](std::int64_t begin, std::int64_t end) {
      std::int64_t hits = 0;
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t label = targets.data<std::int64_t>()[row];
        hits += eigen::IsLargest(x.data<T>() + row * classes, classes, label) ? 1 : 0;
      }
      return static_cast<double>(hits);
    };
    correct = static_cast<std::int64_t>(
        eigen::ParallelSum(targets.size(), eigen::RowsPerChunk(classes), count_rows));
  });
  return correct;
}

}  // namespace frugal
