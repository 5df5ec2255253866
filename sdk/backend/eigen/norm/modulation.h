#pragma once

#include "sdk/backend/modulation_kernels.h"

namespace frugal {

// Modulation in f32 and f64, by plain loops with sums in double precision; needs no scratch.
class EigenModulationKernels : public ModulationKernels {
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
};

}  // namespace frugal
