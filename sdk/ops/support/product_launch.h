#pragma once

#include "sdk/ops/support/affine_parameters.h"

namespace frugal {

// These launch the three kernels of a product with a weight, at the cost of reading and writing
// each tensor once. Bias and residual may be empty.

// y = activation(x weight^T + bias + residual)
void LaunchLinearForward(Context& context, const Tensor& x, const LinearWeight& weight,
                         const Tensor& bias, const Tensor& residual, const Tensor& y,
                         LinearEpilogue epilogue = {});
// dx = dy weight
void LaunchLinearBackwardData(Context& context, const Tensor& dy, const LinearWeight& weight,
                              const Tensor& dx);
// Writes, or adds, dy^T x to the gradient of the weight, which is not empty, and the sum of dy to
// the bias's.
void LaunchLinearBackwardWeight(Context& context, const Tensor& dy, const Tensor& x,
                                const AffineTensors& gradients,
                                WeightLayout layout = WeightLayout::kOutIn);

}  // namespace frugal
