#pragma once

#include "sdk/capture/calls/adaptive_calls.h"
#include "sdk/capture/recorder/decorated_kernels.h"

namespace frugal {

// Hands each call to the recorder, which runs it on the kernels within.
class CapturingAdaptiveKernels final : public DecoratedKernels<AdaptiveKernels> {
 public:
  using DecoratedKernels::DecoratedKernels;

  void RmsProp(const RmsPropArguments& arguments, const Tensor& gradient,
               const Tensor& square_average, const Tensor& gradient_average,
               const Tensor& momentum_buffer, const Tensor& parameter) override {
    RmsPropCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.square_average = square_average;
    call.gradient_average = gradient_average;
    call.momentum_buffer = momentum_buffer;
    call.parameter = parameter;
    Record(call, nullptr);
  }
  void Adagrad(const AdagradArguments& arguments, const Tensor& gradient, const Tensor& square_sum,
               const Tensor& parameter) override {
    AdagradCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.square_sum = square_sum;
    call.parameter = parameter;
    Record(call, nullptr);
  }
  void Adadelta(const AdadeltaArguments& arguments, const Tensor& gradient,
                const Tensor& square_average, const Tensor& delta_average,
                const Tensor& parameter) override {
    AdadeltaCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.square_average = square_average;
    call.delta_average = delta_average;
    call.parameter = parameter;
    Record(call, nullptr);
  }
  void NAdam(const NAdamArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
             const Tensor& second_moment, const Tensor& parameter) override {
    NAdamCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.first_moment = first_moment;
    call.second_moment = second_moment;
    call.parameter = parameter;
    Record(call, nullptr);
  }
  void RAdam(const RAdamArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
             const Tensor& second_moment, const Tensor& parameter) override {
    RAdamCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.first_moment = first_moment;
    call.second_moment = second_moment;
    call.parameter = parameter;
    Record(call, nullptr);
  }
  void Adamax(const AdamaxArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
              const Tensor& infinity_norm, const Tensor& parameter) override {
    AdamaxCall call;
    call.arguments = arguments;
    call.gradient = gradient;
    call.first_moment = first_moment;
    call.infinity_norm = infinity_norm;
    call.parameter = parameter;
    Record(call, nullptr);
  }
};

}  // namespace frugal
