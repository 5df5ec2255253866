#pragma once

#include "sdk/backend/optimizer_kernels.h"

namespace frugal {

// SGD and Adam by PyTorch's formulas; factors are computed in double precision, the elements in
// their own type (f32 or f64).
class EigenOptimizerKernels : public OptimizerKernels {
 public:
  void Sgd(const SgdArguments& arguments, const Tensor& gradient, const Tensor& momentum_buffer,
           const Tensor& parameter) override;
  // Kingma & Ba, arXiv:1412.6980; decoupled: Loshchilov & Hutter, arXiv:1711.05101.
  void Adam(const AdamArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
            const Tensor& second_moment, const Tensor& parameter) override;
  double SumOfSquares(const Tensor& x) override;
};

}  // namespace frugal
