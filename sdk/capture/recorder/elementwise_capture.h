#pragma once

#include "sdk/capture/calls/elementwise_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingElementwiseKernels final : public DecoratedKernels<ElementwiseKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  void ActivationForward(Activation kind, double parameter, const Tensor& x,
                         const Tensor& y) override {
    ActivationForwardCall call;
    call.kind = kind;
    call.parameter = parameter;
    call.x = x;
    call.y = y;
    Record(call, nullptr);
  }
  void ActivationBackward(Activation kind, double parameter, const Tensor& dy, const Tensor& kept,
                          const Tensor& dx) override {
    ActivationBackwardCall call;
    call.kind = kind;
    call.parameter = parameter;
    call.dy = dy;
    call.kept = kept;
    call.dx = dx;
    Record(call, nullptr);
  }
  void Add(const Tensor& a, const Tensor& b, const Tensor& sum) override {
    AddCall call;
    call.a = a;
    call.b = b;
    call.sum = sum;
    Record(call, nullptr);
  }
  void Scale(const Tensor& x, double factor, const Tensor& y) override {
    ScaleCall call;
    call.x = x;
    call.factor = factor;
    call.y = y;
    Record(call, nullptr);
  }
  void Fill(const Tensor& x, double value) override {
    FillCall call;
    call.x = x;
    call.value = value;
    Record(call, nullptr);
  }
  void Copy(const Tensor& from, const Tensor& to) override {
    CopyCall call;
    call.from = from;
    call.to = to;
    Record(call, nullptr);
  }
  void Dropout(const Tensor& x, double rate, std::uint64_t key, const Tensor& y) override {
    DropoutCall call;
    call.x = x;
    call.rate = rate;
    call.key = key;
    call.y = y;
    Record(call, nullptr);
  }
  void Permute(const Tensor& x, const Shape& axes, const Tensor& y) override {
    PermuteCall call;
    call.x = x;
    call.axes = axes;
    call.y = y;
    Record(call, nullptr);
  }
};

}  // namespace frugal
