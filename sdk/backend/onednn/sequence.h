#pragma once

#include "sdk/backend/eigen/sequence.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// Rms norm in f32 and bf16 by the vectorized loops of simd/; its weight, its weight's gradient and
// rstd are f32. Other kernels, other element types and empty tensors are the reference's.
class OneDnnSequenceKernels final : public EigenSequenceKernels {
 public:
  void RmsForward(const Tensor& x, const Tensor& weight, double epsilon, const Tensor& y,
                  const Tensor& rstd) override;
  std::int64_t RmsBackwardScratch(const Tensor& x) const override;
  void RmsBackward(const Tensor& dy, const Tensor& x, const Tensor& rstd, const Tensor& weight,
                   const Tensor& dx, const Tensor& dweight, bool accumulate,
                   void* scratch) override;

 private:
  const simd::Loops& loops_ = simd::SelectLoops();
};

}  // namespace frugal
