#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of OptimizerKernels (sdk/backend/optimizer_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct SgdCall final : Call {
  static constexpr std::string_view kName = "sgd";
  SgdArguments arguments;
  Tensor gradient;
  Tensor momentum_buffer;
  Tensor parameter;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, arguments);
    visitor.Input("gradient", gradient);
    visitor.Gradient("momentum_buffer", momentum_buffer, !arguments.first_step);
    visitor.Updated("parameter", parameter);
  }
  void Run(Backend& backend, void*) override {
    backend.optimizer().Sgd(arguments, gradient, momentum_buffer, parameter);
  }
};

struct AdamCall final : Call {
  static constexpr std::string_view kName = "adam";
  AdamArguments arguments;
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
    backend.optimizer().Adam(arguments, gradient, first_moment, second_moment, parameter);
  }
};

struct SumOfSquaresCall final : Call {
  static constexpr std::string_view kName = "sum_of_squares";
  Tensor x;
  double sum{};

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("x", x);
    visitor.Result("sum", sum);
  }
  void Run(Backend& backend, void*) override { sum = backend.optimizer().SumOfSquares(x); }
};

}  // namespace frugal
