#pragma once

#include "sdk/backend/eigen/optimizer/optimizer.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal {

// f32 by the vectorized loops of simd/; the rest by the reference.
class OneDnnOptimizerKernels final : public EigenOptimizerKernels {
 public:
  void Sgd(const SgdArguments& arguments, const Tensor& gradient, const Tensor& momentum_buffer,
           const Tensor& parameter) override;
  void Adam(const AdamArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
            const Tensor& second_moment, const Tensor& parameter) override;
  double SumOfSquares(const Tensor& x) override;

 private:
  const simd::OptimizerLoops& loops_ = simd::SelectLoops().optimizer;
};

}  // namespace frugal
