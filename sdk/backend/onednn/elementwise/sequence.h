#pragma once

#include "sdk/backend/eigen/sequence/sequence.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// Rms norm, rotations and gated units in f32 and bf16 by the vectorized loops of simd/. Beside bf16
// tensors, a norm's weight with its gradient and rstd, and the cosines and sines of rotations, are
// f32. Other kernels, other element types and empty tensors are the reference's.
class OneDnnSequenceKernels final : public EigenSequenceKernels {
 public:
  void Rotate(const RotaryGeometry& g, const Tensor& cosine, const Tensor& sine, bool inverse,
              const Tensor& x) override;
  void RotateBy(const Tensor& x, const Tensor& cosine, const Tensor& sine, bool transpose,
                const Tensor& y) override;
  void RotateByBackwardAngles(const Tensor& dy, const Tensor& x, const Tensor& dcosine,
                              const Tensor& dsine) override;

  void GatedForward(Activation f, bool gate_last, const Tensor& x, const Tensor& y) override;
  void GatedBackward(Activation f, bool gate_last, const Tensor& dy, const Tensor& x,
                     const Tensor& dx) override;

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
