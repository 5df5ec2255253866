#pragma once

#include "sdk/capture/calls/conv_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingConvKernels final : public DecoratedKernels<ConvKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  bool FusesActivation(Activation activation) const override {
    return inner().FusesActivation(activation);
  }
  std::int64_t ForwardScratch(const ConvGeometry& g, DType dtype) const override {
    return inner().ForwardScratch(g, dtype);
  }
  void Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
               const Tensor& y, LinearEpilogue epilogue, void* scratch) override {
    ConvForwardCall call;
    call.g = g;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.y = y;
    call.epilogue = epilogue;
    Record(call, scratch);
  }
  std::int64_t BackwardDataScratch(const ConvGeometry& g, DType dtype) const override {
    return inner().BackwardDataScratch(g, dtype);
  }
  void BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, const Tensor& dx,
                    void* scratch) override {
    ConvBackwardDataCall call;
    call.g = g;
    call.dy = dy;
    call.weight = weight;
    call.dx = dx;
    Record(call, scratch);
  }
  std::int64_t BackwardWeightScratch(const ConvGeometry& g, DType dtype, bool has_bias,
                                     bool accumulate) const override {
    return inner().BackwardWeightScratch(g, dtype, has_bias, accumulate);
  }
  void BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                      const Tensor& dweight, const Tensor& dbias, bool accumulate,
                      void* scratch) override {
    ConvBackwardWeightCall call;
    call.g = g;
    call.dy = dy;
    call.x = x;
    call.dweight = dweight;
    call.dbias = dbias;
    call.accumulate = accumulate;
    Record(call, scratch);
  }
};

}  // namespace frugal
