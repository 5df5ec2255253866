#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of ElementwiseKernels (sdk/backend/elementwise_kernels.h), whose tensors and numbers they
// name.
namespace frugal {

struct ActivationForwardCall final : Call {
  static constexpr std::string_view kName = "activation_forward";
  Activation kind = Activation::kIdentity;
  double parameter = 0;
  Tensor x;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("kind", kind);
    visitor.Attribute("parameter", parameter);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override {
    backend.elementwise().ActivationForward(kind, parameter, x, y);
  }
};

struct ActivationBackwardCall final : Call {
  static constexpr std::string_view kName = "activation_backward";
  Activation kind = Activation::kIdentity;
  double parameter = 0;
  Tensor dy;
  Tensor kept;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("kind", kind);
    visitor.Attribute("parameter", parameter);
    visitor.Input("dy", dy);
    visitor.Input("kept", kept);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override {
    backend.elementwise().ActivationBackward(kind, parameter, dy, kept, dx);
  }
};

struct AddCall final : Call {
  static constexpr std::string_view kName = "add";
  Tensor a;
  Tensor b;
  Tensor sum;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("a", a);
    visitor.Input("b", b);
    visitor.Output("sum", sum);
  }
  NullExcuses excuses() const override { return {.either = "a", .other = "b"}; }
  void Run(Backend& backend, void*) override { backend.elementwise().Add(a, b, sum); }
};

struct ScaleCall final : Call {
  static constexpr std::string_view kName = "scale";
  Tensor x;
  double factor = 0;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("factor", factor);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.elementwise().Scale(x, factor, y); }
};

struct FillCall final : Call {
  static constexpr std::string_view kName = "fill";
  Tensor x;
  double value = 0;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("value", value);
    visitor.Output("x", x);
  }
  NullExcuses excuses() const override { return {.zeros = value == 0, .order = true}; }
  void Run(Backend& backend, void*) override { backend.elementwise().Fill(x, value); }
};

struct CopyCall final : Call {
  static constexpr std::string_view kName = "copy";
  Tensor from;
  Tensor to;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("from", from);
    visitor.Output("to", to);
  }
  NullExcuses excuses() const override { return {.copy = true}; }
  void Run(Backend& backend, void*) override { backend.elementwise().Copy(from, to); }
};

struct DropoutCall final : Call {
  static constexpr std::string_view kName = "dropout";
  Tensor x;
  double rate = 0;
  std::uint64_t key = 0;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("rate", rate);
    visitor.Attribute("key", key);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.elementwise().Dropout(x, rate, key, y); }
};

struct PermuteCall final : Call {
  static constexpr std::string_view kName = "permute";
  Tensor x;
  Shape axes;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("axes", axes);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override { backend.elementwise().Permute(x, axes, y); }
};

}  // namespace frugal
