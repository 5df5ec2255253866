#pragma once

#include "sdk/backend/eigen/loss/loss.h"
#include "sdk/backend/onednn/operation/operation_cache.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// f32 and bf16 (whose loss and log-sum-exp are f32): softmax by oneDNN, cross entropy by the
// vectorized loops of simd/; the rest by the reference.
class OneDnnLossKernels final : public EigenLossKernels {
 public:
  explicit OneDnnLossKernels(onednn::OperationCache& cache) : cache_(cache) {}

  void SoftmaxForward(const Tensor& x, bool logarithm, const Tensor& y) override;
  void SoftmaxBackward(const Tensor& dy, const Tensor& y, bool logarithm,
                       const Tensor& dx) override;
  void CrossEntropyForward(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options,
                           const Tensor& log_sum_exp, const Tensor& loss) override;
  void CrossEntropyBackward(const Tensor& dloss, const Tensor& logits, const Tensor& targets,
                            CrossEntropyOptions options, const Tensor& log_sum_exp,
                            const Tensor& dlogits) override;
  CrossEntropySums CrossEntropyInPlace(const Tensor& logits, const Tensor& targets,
                                       CrossEntropyOptions options, double factor) override;
  std::int64_t CountCorrect(const Tensor& x, const Tensor& targets) override;

 private:
  onednn::Operation* FindSoftmax(const Tensor& y, bool logarithm, bool backward) const;

  onednn::OperationCache& cache_;
  const simd::Loops& loops_ = simd::SelectLoops();
};

}  // namespace frugal
