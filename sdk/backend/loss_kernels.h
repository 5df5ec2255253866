#pragma once

#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal {

enum class Regression : std::uint8_t {
  kMse,            // (x - t)^2
  kL1,             // |x - t|
  kHuber,          // d = |x - t| <= delta ? d^2 / 2 : delta (d - delta / 2)
  kBceWithLogits,  // binary cross entropy of sigmoid(x) against t, in its stable form
};

// Losses of one row of outputs x, of D numbers.
enum class RowLossKind : std::uint8_t {
  kRegression,    // the mean of `regression` between x and t
  kHinge,         // sum over j != label of max(0, margin - x[label] + x[j]) / D
  kKlDivergence,  // sum of t (log t - log softmax(x)), where 0 log 0 = 0
  kCosine,        // 1 - x t / (|x| |t|)
  kTriplet,       // x = (a, p, n), each of D / 3: max(0, |a - p| - |a - n| + margin)
};

struct RowLoss {
  RowLossKind kind = RowLossKind::kRegression;
  Regression regression = Regression::kMse;
  double delta = 1;   // of kHuber
  double margin = 1;  // of kHinge and kTriplet
  double divisor = 1;
  Tensor sample_weights{};  // see WeightedCrossEntropyOptions
};

struct CtcOptions {
  std::int64_t blank = 0;
  std::int64_t padding = -100;  // behind the labels of a sample
  bool zero_infinity = false;
  Tensor sample_weights{};
};

class LossKernels {
 public:
  virtual ~LossKernels() = default;

  // The softmax is taken along the last axis, x and y [M, D]; y may be x.
  virtual void SoftmaxForward(const Tensor& x, bool logarithm, const Tensor& y) = 0;
  virtual void SoftmaxBackward(const Tensor& dy, const Tensor& y, bool logarithm,
                               const Tensor& dx) = 0;

  // logits [M, V], targets kI64 [M], log_sum_exp [M] (written by forward, read by backward),
  // loss [1] = mean over the rows whose target is not ignore_index. With smoothing e the target
  // distribution is (1 - e) one-hot + e / V. Throws DataError on a target outside [0, V).
  struct CrossEntropyOptions {
    double label_smoothing = 0;
    std::int64_t ignore_index = -100;
    // CrossEntropyInPlace only: logits of a row, if not all of its columns; those behind get 0.
    std::int64_t classes = 0;
  };
  virtual void CrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                   CrossEntropyOptions options, const Tensor& log_sum_exp,
                                   const Tensor& loss) = 0;
  // dloss [1]; dlogits may be logits.
  virtual void CrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                    const Tensor& targets, CrossEntropyOptions options,
                                    const Tensor& log_sum_exp, const Tensor& dlogits) = 0;

  // Both at once, row by row while it is in the caches: adds up the loss of the rows that count,
  // and writes factor * (softmax - target distribution) over the logits.
  struct CrossEntropySums {
    double loss = 0;
    std::int64_t correct = 0;  // rows whose target has the largest logit, as CountCorrect
  };
  virtual CrossEntropySums CrossEntropyInPlace(const Tensor& logits, const Tensor& targets,
                                               CrossEntropyOptions options, double factor) = 0;

  // Does the same where rows do not count alike: loss [1] = sum over the rows that count of
  //   s c[label] (1 - p)^focusing (-log p), p the probability of the row's label,
  // divided by the sum of their c[label]. Smoothing as PyTorch's: with e of it,
  //   s ((1 - e) c[label] (1 - p)^focusing (-log p) + e / V sum over j of c[j] (-log p[j])).
  struct WeightedCrossEntropyOptions {
    double label_smoothing = 0;
    std::int64_t ignore_index = -100;
    double focusing = 0;
    Tensor class_weights{};  // c [V], or empty for ones
    // s [N], or empty for ones: those of N samples with one row, or M / N of them in a row, each.
    Tensor sample_weights{};
  };
  virtual void WeightedCrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                           const WeightedCrossEntropyOptions& options,
                                           const Tensor& log_sum_exp, const Tensor& loss) = 0;
  virtual void WeightedCrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                            const Tensor& targets,
                                            const WeightedCrossEntropyOptions& options,
                                            const Tensor& log_sum_exp, const Tensor& dlogits) = 0;

  // x [M, D]; targets like x, or labels kI64 [M] for kHinge, or empty for kTriplet.
  // loss [1] = sum over rows of s l / divisor, s as above. Throws DataError on a label outside
  // [0, D).
  virtual void RowLossForward(const RowLoss& row_loss, const Tensor& x, const Tensor& targets,
                              const Tensor& loss) = 0;
  virtual void RowLossBackward(const RowLoss& row_loss, const Tensor& dloss, const Tensor& x,
                               const Tensor& targets, const Tensor& dx) = 0;

  // Connectionist temporal classification (Graves et al., ICML 2006): -log of the probability of
  // all ways along T steps to a sample's labels, divided by their number (at least 1); loss [1] =
  // the mean over samples of s times that. logits [N, T, C], labels kI64 [N, L]: each row ends in
  // any number of `padding`. Both directions need CtcScratchBytes and throw DataError on a label
  // outside [0, C), on the blank as a label, and on a sample with more labels (one more for each
  // that follows its like) than steps, unless `zero_infinity`: then that sample counts 0.
  static std::int64_t CtcScratchBytes(const Shape& logits, const Shape& labels, bool backward);
  virtual void CtcForward(const Tensor& logits, const Tensor& labels, const CtcOptions& options,
                          void* scratch, const Tensor& loss) = 0;
  virtual void CtcBackward(const Tensor& dloss, const Tensor& logits, const Tensor& labels,
                           const CtcOptions& options, void* scratch, const Tensor& dlogits) = 0;

  // x and target of one shape; loss [1] = mean. `delta` is for kHuber.
  virtual void RegressionForward(Regression kind, double delta, const Tensor& x,
                                 const Tensor& target, const Tensor& loss) = 0;
  virtual void RegressionBackward(Regression kind, double delta, const Tensor& dloss,
                                  const Tensor& x, const Tensor& target, const Tensor& dx) = 0;
  // The gradient towards the target.
  virtual void RegressionTargetBackward(Regression kind, double delta, const Tensor& dloss,
                                        const Tensor& x, const Tensor& target,
                                        const Tensor& dtarget) = 0;

  // How many rows of x [M, V] have their largest value at targets [M] (the first of equals).
  virtual std::int64_t CountCorrect(const Tensor& x, const Tensor& targets) = 0;
};

}  // namespace frugal
