#pragma once

#include "sdk/capture/calls/resample_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingResampleKernels final : public DecoratedKernels<ResampleKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  void NearestForward(std::int64_t factor, const Tensor& x, const Tensor& y) override {
    ResampleNearestForwardCall call;
    call.factor = factor;
    call.x = x;
    call.y = y;
    Record(call, nullptr);
  }
  void NearestBackward(std::int64_t factor, const Tensor& dy, const Tensor& dx) override {
    ResampleNearestBackwardCall call;
    call.factor = factor;
    call.dy = dy;
    call.dx = dx;
    Record(call, nullptr);
  }
  void BilinearForward(std::int64_t factor, const Tensor& x, const Tensor& y) override {
    ResampleBilinearForwardCall call;
    call.factor = factor;
    call.x = x;
    call.y = y;
    Record(call, nullptr);
  }
  void BilinearBackward(std::int64_t factor, const Tensor& dy, const Tensor& dx) override {
    ResampleBilinearBackwardCall call;
    call.factor = factor;
    call.dy = dy;
    call.dx = dx;
    Record(call, nullptr);
  }
};

}  // namespace frugal
