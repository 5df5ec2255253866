#pragma once

#include "sdk/ops/support/affine_parameters.h"

namespace frugal {

// A convolution of x [N, spatial..., Cin] of that shape and type.
struct ConvolutionCall {
  Shape shape;
  DType dtype;
  const Parameter* weight;
  const Parameter* bias;  // or null
  ConvGeometry geometry;
};

// These launch the three kernels of a convolution, at the cost of reading and writing each tensor
// once.

// y = activation(x * weight + bias)
void LaunchConvolutionForward(Context& context, const ConvolutionCall& call, const Tensor& x,
                              const Tensor& y, LinearEpilogue epilogue = {});
// Writes, or adds, the gradients of weight and bias; that of the weight is not empty.
void LaunchConvolutionBackwardWeight(Context& context, const ConvolutionCall& call, const Tensor& x,
                                     const Tensor& dy, const AffineTensors& gradients);
// Returns the gradient of x, which it allocates.
Tensor LaunchConvolutionBackwardData(Context& context, const ConvolutionCall& call,
                                     const Tensor& dy);

}  // namespace frugal
