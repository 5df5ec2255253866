#pragma once

#include "sdk/backend/loss_kernels.h"

namespace frugal {

// Softmax and losses in f32 and f64, summed in double precision.
class EigenLossKernels : public LossKernels {
 public:
  void SoftmaxForward(const Tensor& x, bool logarithm, const Tensor& y) override;
  void SoftmaxBackward(const Tensor& dy, const Tensor& y, bool logarithm,
                       const Tensor& dx) override;
  // Rows with ignore_index are not read; where all are ignored, loss and gradient are 0. Both
  // directions throw DataError on a target outside [0, V).
  void CrossEntropyForward(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options,
                           const Tensor& log_sum_exp, const Tensor& loss) override;
  void CrossEntropyBackward(const Tensor& dloss, const Tensor& logits, const Tensor& targets,
                            CrossEntropyOptions options, const Tensor& log_sum_exp,
                            const Tensor& dlogits) override;
  CrossEntropySums CrossEntropyInPlace(const Tensor& logits, const Tensor& targets,
                                       CrossEntropyOptions options, double factor) override;
  // Loss and gradient are 0 where the weights of all rows that count add up to 0.
  void WeightedCrossEntropyForward(const Tensor& logits, const Tensor& targets,
                                   const WeightedCrossEntropyOptions& options,
                                   const Tensor& log_sum_exp, const Tensor& loss) override;
  void WeightedCrossEntropyBackward(const Tensor& dloss, const Tensor& logits,
                                    const Tensor& targets,
                                    const WeightedCrossEntropyOptions& options,
                                    const Tensor& log_sum_exp, const Tensor& dlogits) override;
  void RowLossForward(const RowLoss& row_loss, const Tensor& x, const Tensor& targets,
                      const Tensor& loss) override;
  void RowLossBackward(const RowLoss& row_loss, const Tensor& dloss, const Tensor& x,
                       const Tensor& targets, const Tensor& dx) override;
  // Probabilities are summed as logarithms in double precision.
  void CtcForward(const Tensor& logits, const Tensor& labels, const CtcOptions& options,
                  void* scratch, const Tensor& loss) override;
  void CtcBackward(const Tensor& dloss, const Tensor& logits, const Tensor& labels,
                   const CtcOptions& options, void* scratch, const Tensor& dlogits) override;
  // The loss of no elements is 0.
  void RegressionForward(Regression kind, double delta, const Tensor& x, const Tensor& target,
                         const Tensor& loss) override;
  void RegressionBackward(Regression kind, double delta, const Tensor& dloss, const Tensor& x,
                          const Tensor& target, const Tensor& dx) override;
  void RegressionTargetBackward(Regression kind, double delta, const Tensor& dloss, const Tensor& x,
                                const Tensor& target, const Tensor& dtarget) override;
  // A row that holds NaN, or whose target is outside [0, V), counts as wrong.
  std::int64_t CountCorrect(const Tensor& x, const Tensor& targets) override;
};

}  // namespace frugal
