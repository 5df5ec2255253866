#pragma once

#include "sdk/backend/eigen/norm/modulation.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// Modulation in f32 and bf16 by the vectorized loops of the normalizations: what acts on a sample
// is an affine function of each feature, so (weight, bias) of a layer norm and (scale, shift) of a
// sample make one pair of rows in scratch, and the sums over a sample are those of a norm's weight
// and bias. Other element types and empty tensors go to the reference.
class OneDnnModulationKernels final : public EigenModulationKernels {
 public:
  std::int64_t ModulateScratch(const Tensor& x) const override;
  void Modulate(const Tensor& x, const Tensor& shift, const Tensor& scale, const Tensor& y,
                void* scratch) override;
  void ModulateBackward(const Tensor& dy, const Tensor& x, const Tensor& scale, const Tensor& dx,
                        const Tensor& dshift, const Tensor& dscale, void* scratch) override;

  std::int64_t GatedAddScratch(const Tensor& x) const override;
  void GatedAdd(const Tensor& x, const Tensor& gate, const Tensor& residual, const Tensor& y,
                void* scratch) override;
  void GatedAddBackward(const Tensor& dy, const Tensor& x, const Tensor& gate, const Tensor& dx,
                        const Tensor& dgate, void* scratch) override;

  std::int64_t LayerScratch(const Tensor& x) const override;
  void LayerForward(const Tensor& x, const LayerParts& parts, double epsilon, const Tensor& y,
                    const Tensor& mean, const Tensor& rstd, void* scratch) override;
  void LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                     const LayerParts& parts, const LayerGradients& gradients,
                     void* scratch) override;

 private:
  const simd::Loops& loops_ = simd::SelectLoops();
};

}  // namespace frugal
