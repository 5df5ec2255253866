#pragma once

#include "sdk/capture/calls/product_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingProductKernels final : public DecoratedKernels<ProductKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  std::int64_t PackedWeightBytes(const LinearWeight& weight) const override {
    return inner().PackedWeightBytes(weight);
  }
  void PackWeight(const LinearWeight& weight, const Tensor& packed) override {
    inner().PackWeight(weight, packed);
  }
  std::int64_t FastWidth(const LinearWeight& weight) const override {
    return inner().FastWidth(weight);
  }
  bool FusesActivation(Activation activation) const override {
    return inner().FusesActivation(activation);
  }
  std::int64_t LinearForwardScratch(const Tensor& x, const LinearWeight& weight) const override {
    return inner().LinearForwardScratch(x, weight);
  }
  void LinearForward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
                     const Tensor& residual, const Tensor& y, LinearEpilogue epilogue,
                     void* scratch) override {
    LinearForwardCall call;
    call.x = x;
    call.weight = weight;
    call.bias = bias;
    call.residual = residual;
    call.y = y;
    call.epilogue = epilogue;
    call.packed = static_cast<bool>(weight.packed);
    Record(call, scratch);
  }
  std::int64_t LinearBackwardDataScratch(const Tensor& dy,
                                         const LinearWeight& weight) const override {
    return inner().LinearBackwardDataScratch(dy, weight);
  }
  void LinearBackwardData(const Tensor& dy, const LinearWeight& weight, const Tensor& dx,
                          bool accumulate, void* scratch) override {
    LinearBackwardDataCall call;
    call.dy = dy;
    call.weight = weight;
    call.dx = dx;
    call.accumulate = accumulate;
    call.packed = static_cast<bool>(weight.packed);
    Record(call, scratch);
  }
  std::int64_t LinearBackwardWeightScratch(const Tensor& dy, const Tensor& x,
                                           bool accumulate) const override {
    return inner().LinearBackwardWeightScratch(dy, x, accumulate);
  }
  void LinearBackwardWeight(const Tensor& dy, const Tensor& x, const LinearWeight& dweight,
                            const Tensor& dbias, bool accumulate, void* scratch) override {
    LinearBackwardWeightCall call;
    call.dy = dy;
    call.x = x;
    call.dweight = dweight;
    call.dbias = dbias;
    call.accumulate = accumulate;
    call.packed = static_cast<bool>(dweight.packed);
    Record(call, scratch);
  }
};

}  // namespace frugal
