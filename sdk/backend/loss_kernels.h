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
