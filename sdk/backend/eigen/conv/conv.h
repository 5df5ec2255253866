#pragma once

#include "sdk/backend/conv_kernels.h"

namespace frugal {

// Convolution as products over gathered columns, a tile of output positions at a time. Takes f32
// and f64, any groups and dilation. Scratch: the weight in the order of the columns and one tile of
// columns per thread, so it depends on ThreadCount(), which must not grow between the call that
// asks for the size and the kernel. Results do not depend on the number of threads.
class EigenConvKernels : public ConvKernels {
 public:
  bool FusesActivation(Activation activation) const override;
  std::int64_t ForwardScratch(const ConvGeometry& g, DType dtype) const override;
  void Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
               const Tensor& y, LinearEpilogue epilogue, void* scratch) override;
  std::int64_t BackwardDataScratch(const ConvGeometry& g, DType dtype) const override;
  void BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, const Tensor& dx,
                    void* scratch) override;
  std::int64_t BackwardWeightScratch(const ConvGeometry& g, DType dtype, bool has_bias,
                                     bool accumulate) const override;
  void BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                      const Tensor& dweight, const Tensor& dbias, bool accumulate,
                      void* scratch) override;
};

}  // namespace frugal
