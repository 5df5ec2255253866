#pragma once

#include <cstdint>

#include "sdk/backend/activation.h"
#include "sdk/backend/geometry.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

class ConvKernels {
 public:
  virtual ~ConvKernels() = default;

  virtual bool FusesActivation(Activation activation) const = 0;
  // x [N, in..., Cin], weight [Cout, Cin / groups, kernel...], bias [Cout] or none
  virtual std::int64_t ForwardScratch(const ConvGeometry& g, DType dtype) const = 0;
  virtual void Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                       const Tensor& bias, const Tensor& y, LinearEpilogue epilogue,
                       void* scratch) = 0;
  virtual std::int64_t BackwardDataScratch(const ConvGeometry& g, DType dtype) const = 0;
  virtual void BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight,
                            const Tensor& dx, void* scratch) = 0;
  // dbias [Cout] or none
  virtual std::int64_t BackwardWeightScratch(const ConvGeometry& g, DType dtype, bool has_bias,
                                             bool accumulate) const = 0;
  virtual void BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                              const Tensor& dweight, const Tensor& dbias, bool accumulate,
                              void* scratch) = 0;
};

}  // namespace frugal
