#include "sdk/backend/onednn/elementwise/loss.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using onednn::Slot;
using Options = LossKernels::CrossEntropyOptions;

// body(row, offset of its first element), in parallel over pieces of rows
template <class Body>
void ForRows(const Tensor& x, const Body& body) {
  const std::int64_t columns = x.shape().back();
  eigen::ParallelFor(x.shape().RowCount(), eigen::RowsPerChunk(columns),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t row = begin; row < end; ++row) body(row, row * columns);
                     });
}

// How many rows count. Throws DataError on the first target outside [0, classes).
std::int64_t CountRows(const Tensor& targets, std::int64_t classes, const Options& options) {
  std::int64_t counted = 0;
  std::int64_t row = 0;
  for (const std::int64_t label : targets.values<std::int64_t>()) {
    if (label != options.ignore_index) {
      if (label < 0 || label >= classes) {
        throw DataError(
            {.where = "cross entropy",
             .required = "every label from 0 to " + std::to_string(classes - 1),
             .given = "label " + std::to_string(label) + " in row " + std::to_string(row),
             .advice = "correct the labels or give the model's last layer more outputs"});
      }
      ++counted;
    }
    ++row;
  }
  return counted;
}

// Returns the loss of one row x of `classes` logits, and writes its log-sum-exp.
template <class T>
double LossOfRow(const simd::RowLoops<T>& loops, const T* x, std::int64_t classes,
                 std::int64_t label, double smoothing, float& log_sum_exp) {
  log_sum_exp = loops.log_sum_exp(x, classes);
  const auto logarithm = static_cast<double>(log_sum_exp);
  const double hit = logarithm - static_cast<double>(static_cast<float>(x[label]));
  if (smoothing == 0) return hit;
  const double mean = loops.sum(x, classes) / static_cast<double>(classes);
  return (1 - smoothing) * hit + smoothing * (logarithm - mean);
}

struct RowGradient {
  double smoothing, factor;
  std::int64_t classes;

  // dx may be x.
  template <class T>
  void Write(const simd::RowLoops<T>& loops, const T* x, std::int64_t label, float log_sum_exp,
             T* dx) const {
    const auto uniform = static_cast<float>(smoothing / static_cast<double>(classes));
    const auto scale = static_cast<float>(factor);
    const float hit = scale * static_cast<float>(1 - smoothing);
    const auto chosen = static_cast<float>(x[label]);
    loops.cross_entropy_gradient(x, log_sum_exp, uniform, scale, dx, classes);
    // Anew, since the difference of two rounded numbers would be much less exact.
    dx[label] = T(scale * (std::exp(chosen - log_sum_exp) - uniform) - hit);
  }
};

// oneDNN makes numbers of rows that hold NaN or infinity, or nothing but minus infinity. There is
// no softmax of those: makes all of their row of `to` NaN.
template <class T>
void MarkRow(std::int64_t columns, const T* row, T* to) {
  bool is_bounded = true;
  bool is_empty = true;
  for (std::int64_t i = 0; i < columns; ++i) {
    const auto value = static_cast<float>(row[i]);
    is_bounded &= value < HUGE_VALF;  // false for NaN
    is_empty &= value == -HUGE_VALF;
  }
  if (is_bounded && !is_empty) return;
  std::fill_n(to, columns, T(std::numeric_limits<float>::quiet_NaN()));
}

void MarkRows(const Tensor& rows, const Tensor& to) {
  onednn::WithElement(rows.dtype(), [&]<class T>() {
    ForRows(rows, [&](std::int64_t /*row*/, std::int64_t at) {
      MarkRow(rows.shape().back(), rows.data<T>() + at, to.data<T>() + at);
    });
  });
}

float Wide(BFloat16 x) { return static_cast<float>(x); }

// One row of bf16 where oneDNN has no such softmax: on processors without instructions for it.
void WriteSoftmax(const simd::RowLoops<BFloat16>& loops, bool logarithm, std::int64_t columns,
                  const BFloat16* x, BFloat16* y) {
  const float log_sum_exp = loops.log_sum_exp(x, columns);
  if (!logarithm) return loops.cross_entropy_gradient(x, log_sum_exp, 0, 1, y, columns);
  for (std::int64_t i = 0; i < columns; ++i) y[i] = BFloat16(Wide(x[i]) - log_sum_exp);
}

// dx may be dy.
void WriteSoftmaxGradient(bool logarithm, std::int64_t columns, const BFloat16* dy,
                          const BFloat16* y, BFloat16* dx) {
  float sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += Wide(dy[i]) * (logarithm ? 1 : Wide(y[i]));
  for (std::int64_t i = 0; i < columns; ++i) {
    dx[i] = BFloat16(logarithm ? Wide(dy[i]) - std::exp(Wide(y[i])) * sum
                               : Wide(y[i]) * (Wide(dy[i]) - sum));
  }
}

}  // namespace

// nullptr where oneDNN would need scratch, which softmax is not given.
onednn::Operation* OneDnnLossKernels::FindSoftmax(const Tensor& y, bool logarithm,
                                                  bool backward) const {
  if (!onednn::IsFast(y)) return nullptr;
  auto* operation = cache_.Find(onednn::SoftmaxDescription{y.shape().RowCount(), y.shape().back(),
                                                           y.dtype(), logarithm, backward});
  return operation != nullptr && operation->ScratchBytes() == 0 ? operation : nullptr;
}

void OneDnnLossKernels::SoftmaxForward(const Tensor& x, bool logarithm, const Tensor& y) {
  auto* operation = FindSoftmax(x, logarithm, false);
  if (operation == nullptr && x.dtype() == DType::kBF16) {
    return ForRows(x, [&](std::int64_t /*row*/, std::int64_t at) {
      WriteSoftmax(loops_.bf16.row, logarithm, x.shape().back(), x.data<BFloat16>() + at,
                   y.data<BFloat16>() + at);
    });
  }
  if (operation == nullptr) return EigenLossKernels::SoftmaxForward(x, logarithm, y);
  operation->Run({{Slot::kSource, x.raw()}, {Slot::kDestination, y.raw()}}, nullptr);
  MarkRows(x, y);
}

void OneDnnLossKernels::SoftmaxBackward(const Tensor& dy, const Tensor& y, bool logarithm,
                                        const Tensor& dx) {
  auto* operation = FindSoftmax(y, logarithm, true);
  if (operation == nullptr && y.dtype() == DType::kBF16) {
    return ForRows(y, [&](std::int64_t /*row*/, std::int64_t at) {
      WriteSoftmaxGradient(logarithm, y.shape().back(), dy.data<BFloat16>() + at,
                           y.data<BFloat16>() + at, dx.data<BFloat16>() + at);
    });
  }
  if (operation == nullptr) return EigenLossKernels::SoftmaxBackward(dy, y, logarithm, dx);
  operation->Run({{Slot::kDestination, y.raw()},
                  {Slot::kDestinationGradient, dy.raw()},
                  {Slot::kSourceGradient, dx.raw()}},
                 nullptr);
  if (logarithm) MarkRows(y, dx);
}

void OneDnnLossKernels::CrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                            CrossEntropyOptions options, const Tensor& log_sum_exp,
                                            const Tensor& loss) {
  if (!onednn::IsFast(logits)) {
    EigenLossKernels::CrossEntropyForward(logits, targets, options, log_sum_exp, loss);
    return;
  }
  const std::int64_t classes = logits.shape().back();
  const std::int64_t counted = CountRows(targets, classes, options);
  const std::int64_t* const labels = targets.data<std::int64_t>();
  const auto row_loss = [&]<class T>(std::int64_t row) {
    float& logarithm = log_sum_exp.data<float>()[row];
    logarithm = 0;
    if (labels[row] == options.ignore_index) return 0.0;
    return LossOfRow(loops_.Of<T>().row, logits.data<T>() + row * classes, classes, labels[row],
                     options.label_smoothing, logarithm);
  };
  const double sum = onednn::WithElement(logits.dtype(), [&]<class T>() {
    return eigen::ParallelSum(targets.size(), eigen::RowsPerChunk(classes),
                              [&](std::int64_t begin, std::int64_t end) {
                                double part = 0;
                                for (auto row = begin; row < end; ++row) {
                                  part += row_loss.template operator()<T>(row);
                                }
                                return part;
                              });
  });
  loss.data<float>()[0] =
      counted == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(counted));
}

void OneDnnLossKernels::CrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                             const Tensor& targets, CrossEntropyOptions options,
                                             const Tensor& log_sum_exp, const Tensor& dlogits) {
  if (!onednn::IsFast(logits)) {
    EigenLossKernels::CrossEntropyBackward(dloss, logits, targets, options, log_sum_exp, dlogits);
    return;
  }
  const std::int64_t classes = logits.shape().back();
  const auto counted =
      static_cast<double>(std::max<std::int64_t>(1, CountRows(targets, classes, options)));
  const double factor = static_cast<double>(dloss.data<float>()[0]) / counted;
  const std::int64_t* const labels = targets.data<std::int64_t>();
  const RowGradient gradient{options.label_smoothing, factor, classes};
  onednn::WithElement(logits.dtype(), [&]<class T>() {
    ForRows(logits, [&](std::int64_t row, std::int64_t at) {
      T* const dx = dlogits.data<T>() + at;
      if (labels[row] == options.ignore_index) {
        std::fill_n(dx, classes, T(0.0f));
        return;
      }
      gradient.Write(loops_.Of<T>().row, logits.data<T>() + at, labels[row],
                     log_sum_exp.data<float>()[row], dx);
    });
  });
}

LossKernels::CrossEntropySums OneDnnLossKernels::CrossEntropyInPlace(const Tensor& logits,
                                                                     const Tensor& targets,
                                                                     CrossEntropyOptions options,
                                                                     double factor) {
  if (!onednn::IsFast(logits)) {
    return EigenLossKernels::CrossEntropyInPlace(logits, targets, options, factor);
  }
  const std::int64_t columns = logits.shape().back();
  const std::int64_t classes = options.classes > 0 ? options.classes : columns;
  CountRows(targets, classes, options);  // refuses wrong labels before anything is written
  const std::int64_t* const labels = targets.data<std::int64_t>();
  const RowGradient gradient{options.label_smoothing, factor, classes};
  std::atomic<std::int64_t> correct = 0;
  const double loss = onednn::WithElement(logits.dtype(), [&]<class T>() {
    const simd::RowLoops<T>& loops = loops_.Of<T>().row;
    const auto run_row = [&](std::int64_t row) {
      T* const x = logits.data<T>() + row * columns;
      std::fill_n(x + classes, columns - classes, T(0.0f));
      if (labels[row] == options.ignore_index) {
        std::fill_n(x, classes, T(0.0f));
        return 0.0;
      }
      if (loops.is_largest(x, labels[row], classes)) ++correct;
      float logarithm = 0;
      const double one =
          LossOfRow(loops, x, classes, labels[row], options.label_smoothing, logarithm);
      gradient.Write(loops, x, labels[row], logarithm, x);
      return one;
    };
    return eigen::ParallelSum(targets.size(), eigen::RowsPerChunk(classes),
                              [&](std::int64_t begin, std::int64_t end) {
                                double part = 0;
                                for (auto row = begin; row < end; ++row) part += run_row(row);
                                return part;
                              });
  });
  return {loss, correct};
}

std::int64_t OneDnnLossKernels::CountCorrect(const Tensor& x, const Tensor& targets) {
  if (!onednn::IsFast(x)) return EigenLossKernels::CountCorrect(x, targets);
  const std::int64_t classes = x.shape().back();
  const std::int64_t* const labels = targets.data<std::int64_t>();
  const double correct = onednn::WithElement(x.dtype(), [&]<class T>() {
    return eigen::ParallelSum(
        targets.size(), eigen::RowsPerChunk(classes), [&](std::int64_t begin, std::int64_t end) {
          double hits = 0;
          for (std::int64_t row = begin; row < end; ++row) {
            const bool inside = labels[row] >= 0 && labels[row] < classes;
            const T* const logits = x.data<T>() + row * classes;
            hits += inside && loops_.Of<T>().row.is_largest(logits, labels[row], classes) ? 1 : 0;
          }
          return hits;
        });
  });
  return static_cast<std::int64_t>(correct);
}

}  // namespace frugal
