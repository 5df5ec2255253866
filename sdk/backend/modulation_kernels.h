#pragma once

#include <cstdint>

#include "sdk/tensor/tensor.h"

namespace frugal {

// How a condition (a time step, a class) acts on the features of a sample: Perez et al.,
// arXiv:1709.07871 (FiLM); Peebles & Xie, arXiv:2212.09748 (adaLN). x [N, ..., D] is seen as
// [N, T, D]; shift, scale and gate [N, D] have its element type. An empty shift or scale is 0.
//
// Backward: an empty dx, dshift, dscale, dgate, dweight or dbias is left out, and dx may be dy.
class ModulationKernels {
 public:
  virtual ~ModulationKernels() = default;

  // y = x (1 + scale) + shift. Backward reads x only where dscale is given. Scratch is that of any
  // tensor of x's shape and type.
  virtual std::int64_t ModulateScratch(const Tensor& x) const = 0;
  virtual void Modulate(const Tensor& x, const Tensor& shift, const Tensor& scale, const Tensor& y,
                        void* scratch) = 0;
  virtual void ModulateBackward(const Tensor& dy, const Tensor& x, const Tensor& scale,
                                const Tensor& dx, const Tensor& dshift, const Tensor& dscale,
                                void* scratch) = 0;

  // y = residual + gate x
  virtual std::int64_t GatedAddScratch(const Tensor& x) const = 0;
  virtual void GatedAdd(const Tensor& x, const Tensor& gate, const Tensor& residual,
                        const Tensor& y, void* scratch) = 0;
  virtual void GatedAddBackward(const Tensor& dy, const Tensor& x, const Tensor& gate,
                                const Tensor& dx, const Tensor& dgate, void* scratch) = 0;

  // Holds what a modulated layer norm reads beside x: weight, bias [D] in the exact type, or none.
  struct LayerParts {
    Tensor weight;
    Tensor bias;
    Tensor shift;
    Tensor scale;
  };
  // y = LayerNorm(x) (1 + scale) + shift; mean, rstd [N T] in the exact type, as NormKernels.
  virtual std::int64_t LayerScratch(const Tensor& x) const = 0;
  virtual void LayerForward(const Tensor& x, const LayerParts& parts, double epsilon,
                            const Tensor& y, const Tensor& mean, const Tensor& rstd,
                            void* scratch) = 0;
  struct LayerGradients {
    Tensor x;
    Tensor weight;
    Tensor bias;
    Tensor shift;
    Tensor scale;
    bool accumulate = false;  // those of weight and bias
  };
  virtual void LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                             const Tensor& rstd, const LayerParts& parts,
                             const LayerGradients& gradients, void* scratch) = 0;
};

}  // namespace frugal
