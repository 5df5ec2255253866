#pragma once

#include "sdk/capture/calls/pool_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingPoolKernels final : public DecoratedKernels<PoolKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  std::int64_t MaxIndexBytes(const PoolGeometry& g, DType dtype) const override {
    return inner().MaxIndexBytes(g, dtype);
  }
  std::int64_t Scratch(const PoolGeometry& g, DType dtype) const override {
    return inner().Scratch(g, dtype);
  }
  void MaxForward(const PoolGeometry& g, const Tensor& x, const Tensor& y, const Tensor& index,
                  void* scratch) override {
    PoolMaxForwardCall call;
    call.g = g;
    call.x = x;
    call.y = y;
    call.index = index;
    if (recorder().records()) kept_.Keep(index, x);
    Record(call, scratch);
  }
  void MaxBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& index, const Tensor& dx,
                   void* scratch) override {
    PoolMaxBackwardCall call;
    call.g = g;
    call.dy = dy;
    call.index = index;
    call.dx = dx;
    call.x = kept_.Take(index);
    Record(call, scratch);
  }
  void AverageForward(const PoolGeometry& g, const Tensor& x, const Tensor& y,
                      void* scratch) override {
    PoolAverageForwardCall call;
    call.g = g;
    call.x = x;
    call.y = y;
    Record(call, scratch);
  }
  void AverageBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx,
                       void* scratch) override {
    PoolAverageBackwardCall call;
    call.g = g;
    call.dy = dy;
    call.dx = dx;
    Record(call, scratch);
  }
  void AdaptiveForward(const PoolGeometry& g, const Tensor& x, const Tensor& y) override {
    PoolAdaptiveForwardCall call;
    call.g = g;
    call.x = x;
    call.y = y;
    Record(call, nullptr);
  }
  void AdaptiveBackward(const PoolGeometry& g, const Tensor& dy, const Tensor& dx) override {
    PoolAdaptiveBackwardCall call;
    call.g = g;
    call.dy = dy;
    call.dx = dx;
    Record(call, nullptr);
  }

 private:
  KeptInputs kept_;
};

}  // namespace frugal
