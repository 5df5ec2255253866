#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of AdaptiveKernels (sdk/backend/adaptive_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct RmsPropCall final : Call {
  static constexpr std::string_view kName = "rms_prop";
  RmsPropArguments arguments;
  Tensor gradient;
  Tensor square_average;
  Tensor gradient_average;
  Tensor momentum_buffer;
  Tensor parameter;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, arguments);
    visitor.Input("gradient", gradient);
    visitor.Updated("square_average", square_average);
    visitor.Updated("gradient_average", gradient_average);
    visitor.Updated("momentum_buffer", momentum_buffer);
    visitor.Updated("parameter", parameter);
  }
  void Run(Backend& backend, void*) override {
    backend.adaptive().RmsProp(arguments, gradient, square_average, gradient_average,
                               momentum_buffer, parameter);
  }
};

struct AdagradCall final : Call {
  static constexpr std::string_view kName = "adagrad";
  AdagradArguments arguments;
  Tensor gradient;
  Tensor square_sum;
  Tensor parameter;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, arguments);
    visitor.Input("gradient", gradient);
    visitor.Updated("square_sum", square_sum);
    visitor.Updated("parameter", parameter);
  }
  void Run(Backend& backend, void*) override {
    backend.adaptive().Adagrad(arguments, gradient, square_sum, parameter);
  }
};

struct AdadeltaCall final : Call {
  static constexpr std::string_view kName = "adadelta";
  AdadeltaArguments arguments;
  Tensor gradient;
  Tensor square_average;
  Tensor delta_average;
  Tensor parameter;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, arguments);
    visitor.Input("gradient", gradient);
    visitor.Updated("square_average", square_average);
    visitor.Updated("delta_average", delta_average);
    visitor.Updated("parameter", parameter);
  }
  void Run(Backend& backend, void*) override {
    backend.adaptive().Adadelta(arguments, gradient, square_average, delta_average, parameter);
  }
};

struct NAdamCall final : Call {
  static constexpr std::string_view kName = "nadam";
  NAdamArguments arguments;
  Tensor gradient;
  Tensor first_moment;
  Tensor second_moment;
  Tensor parameter;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, arguments);
    visitor.Input("gradient", gradient);
    visitor.Updated("first_moment", first_moment);
    visitor.Updated("second_moment", second_moment);
    visitor.Updated("parameter", parameter);
  }
  void Run(Backend& backend, void*) override {
    backend.adaptive().NAdam(arguments, gradient, first_moment, second_moment, parameter);
  }
};

struct RAdamCall final : Call {
  static constexpr std::string_view kName = "radam";
  RAdamArguments arguments;
  Tensor gradient;
  Tensor first_moment;
  Tensor second_moment;
  Tensor parameter;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, arguments);
    visitor.Input("gradient", gradient);
    visitor.Updated("first_moment", first_moment);
    visitor.Updated("second_moment", second_moment);
    visitor.Updated("parameter", parameter);
  }
  void Run(Backend& backend, void*) override {
    backend.adaptive().RAdam(arguments, gradient, first_moment, second_moment, parameter);
  }
};

struct AdamaxCall final : Call {
  static constexpr std::string_view kName = "adamax";
  AdamaxArguments arguments;
  Tensor gradient;
  Tensor first_moment;
  Tensor infinity_norm;
  Tensor parameter;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, arguments);
    visitor.Input("gradient", gradient);
    visitor.Updated("first_moment", first_moment);
    visitor.Updated("infinity_norm", infinity_norm);
    visitor.Updated("parameter", parameter);
  }
  void Run(Backend& backend, void*) override {
    backend.adaptive().Adamax(arguments, gradient, first_moment, infinity_norm, parameter);
  }
};

}  // namespace frugal
