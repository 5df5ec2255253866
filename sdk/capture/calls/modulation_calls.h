#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of ModulationKernels (sdk/backend/modulation_kernels.h), whose tensors and numbers they
// name.
namespace frugal {

struct ModulateCall final : Call {
  static constexpr std::string_view kName = "modulate";
  Tensor x;
  Tensor shift;
  Tensor scale;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("x", x);
    visitor.Input("shift", shift);
    visitor.Input("scale", scale);
    visitor.Output("y", y);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.modulation().ModulateScratch(x);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.modulation().Modulate(x, shift, scale, y, scratch);
  }
};

struct ModulateBackwardCall final : Call {
  static constexpr std::string_view kName = "modulate_backward";
  Tensor dy;
  Tensor x;
  Tensor scale;
  Tensor dx;
  Tensor dshift;
  Tensor dscale;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("scale", scale);
    visitor.Output("dx", dx);
    visitor.Output("dshift", dshift);
    visitor.Output("dscale", dscale);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.modulation().ModulateScratch(dy);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.modulation().ModulateBackward(dy, x, scale, dx, dshift, dscale, scratch);
  }
};

struct GatedAddCall final : Call {
  static constexpr std::string_view kName = "gated_add";
  Tensor x;
  Tensor gate;
  Tensor residual;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("x", x);
    visitor.Input("gate", gate);
    visitor.Input("residual", residual);
    visitor.Output("y", y);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.modulation().GatedAddScratch(x);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.modulation().GatedAdd(x, gate, residual, y, scratch);
  }
};

struct GatedAddBackwardCall final : Call {
  static constexpr std::string_view kName = "gated_add_backward";
  Tensor dy;
  Tensor x;
  Tensor gate;
  Tensor dx;
  Tensor dgate;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("gate", gate);
    visitor.Output("dx", dx);
    visitor.Output("dgate", dgate);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.modulation().GatedAddScratch(dy);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.modulation().GatedAddBackward(dy, x, gate, dx, dgate, scratch);
  }
};

struct ModulationLayerForwardCall final : Call {
  static constexpr std::string_view kName = "modulation_layer_forward";
  Tensor x;
  ModulationKernels::LayerParts parts;
  double epsilon = 0;
  Tensor y;
  Tensor mean;
  Tensor rstd;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("x", x);
    visitor.Input("weight", parts.weight);
    visitor.Input("bias", parts.bias);
    visitor.Input("shift", parts.shift);
    visitor.Input("scale", parts.scale);
    visitor.Attribute("epsilon", epsilon);
    visitor.Output("y", y);
    visitor.Output("mean", mean);
    visitor.Output("rstd", rstd);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.modulation().LayerScratch(x);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.modulation().LayerForward(x, parts, epsilon, y, mean, rstd, scratch);
  }
};

struct ModulationLayerBackwardCall final : Call {
  static constexpr std::string_view kName = "modulation_layer_backward";
  Tensor dy;
  Tensor x;
  Tensor mean;
  Tensor rstd;
  ModulationKernels::LayerParts parts;
  ModulationKernels::LayerGradients gradients;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("accumulate", gradients.accumulate);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("mean", mean);
    visitor.Input("rstd", rstd);
    visitor.Input("weight", parts.weight);
    visitor.Input("bias", parts.bias);
    visitor.Input("shift", parts.shift);
    visitor.Input("scale", parts.scale);
    visitor.Output("dx", gradients.x);
    visitor.Gradient("dweight", gradients.weight, gradients.accumulate);
    visitor.Gradient("dbias", gradients.bias, gradients.accumulate);
    visitor.Output("dshift", gradients.shift);
    visitor.Output("dscale", gradients.scale);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.modulation().LayerScratch(x);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.modulation().LayerBackward(dy, x, mean, rstd, parts, gradients, scratch);
  }
};

}  // namespace frugal
