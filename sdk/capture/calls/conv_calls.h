#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of ConvKernels (sdk/backend/conv_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct ConvForwardCall final : Call {
  static constexpr std::string_view kName = "conv_forward";
  ConvGeometry g;
  Tensor x;
  Tensor weight;
  Tensor bias;
  Tensor y;
  LinearEpilogue epilogue;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    VisitFields(visitor, epilogue);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Input("bias", bias);
    visitor.Output("y", y);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.conv().ForwardScratch(g, x.dtype());
  }
  double Flops() const override { return FlopsOf(g); }
  void Run(Backend& backend, void* scratch) override {
    const bool fuses = backend.conv().FusesActivation(epilogue.activation);
    backend.conv().Forward(g, x, weight, bias, y, fuses ? epilogue : LinearEpilogue{}, scratch);
    if (fuses) return;
    backend.elementwise().ActivationForward(epilogue.activation, epilogue.parameter, y, y);
  }
};

struct ConvBackwardDataCall final : Call {
  static constexpr std::string_view kName = "conv_backward_data";
  ConvGeometry g;
  Tensor dy;
  Tensor weight;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Input("dy", dy);
    visitor.Input("weight", weight);
    visitor.Output("dx", dx);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.conv().BackwardDataScratch(g, dy.dtype());
  }
  double Flops() const override { return FlopsOf(g); }
  void Run(Backend& backend, void* scratch) override {
    backend.conv().BackwardData(g, dy, weight, dx, scratch);
  }
};

struct ConvBackwardWeightCall final : Call {
  static constexpr std::string_view kName = "conv_backward_weight";
  ConvGeometry g;
  Tensor dy;
  Tensor x;
  Tensor dweight;
  Tensor dbias;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Attribute("accumulate", accumulate);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Gradient("dweight", dweight, accumulate);
    visitor.Gradient("dbias", dbias, accumulate);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.conv().BackwardWeightScratch(g, dy.dtype(), bool(dbias), accumulate);
  }
  double Flops() const override { return FlopsOf(g); }
  void Run(Backend& backend, void* scratch) override {
    backend.conv().BackwardWeight(g, dy, x, dweight, dbias, accumulate, scratch);
  }
};

}  // namespace frugal
