#pragma once

#include "sdk/capture/calls/optimizer_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingOptimizerKernels final : public DecoratedKernels<OptimizerKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  void Sgd(const SgdArguments& arguments, const Tensor& gradient, const Tensor& momentum_buffer,
           const Tensor& parameter) override {
    SgdCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.momentum_buffer = momentum_buffer;
    call.parameter = parameter;
    Record(call, nullptr);
  }
  void Adam(const AdamArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
            const Tensor& second_moment, const Tensor& parameter) override {
    AdamCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.first_moment = first_moment;
    call.second_moment = second_moment;
    call.parameter = parameter;
    Record(call, nullptr);
  }
  double SumOfSquares(const Tensor& x) override {
    SumOfSquaresCall call;
    call.x = x;
    Record(call, nullptr);
    return call.sum;
  }
};

}  // namespace frugal
