#pragma once

#include "sdk/backend/backend.h"
#include "sdk/capture/calls/call.h"
#include "sdk/capture/calls/call_fields.h"

// Calls of SequenceKernels (sdk/backend/sequence_kernels.h), whose tensors and numbers they name.
namespace frugal {

struct RotateCall final : Call {
  static constexpr std::string_view kName = "rotate";
  RotaryGeometry g;
  Tensor cosine;
  Tensor sine;
  bool inverse = false;
  Tensor x;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    VisitFields(visitor, g);
    visitor.Attribute("inverse", inverse);
    visitor.Input("cosine", cosine);
    visitor.Input("sine", sine);
    visitor.Updated("x", x);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().Rotate(g, cosine, sine, inverse, x);
  }
};

struct SineCosineCall final : Call {
  static constexpr std::string_view kName = "sine_cosine";
  Tensor angles;
  bool cosine_first = false;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("cosine_first", cosine_first);
    visitor.Input("angles", angles);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().SineCosine(angles, cosine_first, y);
  }
};

struct SineCosineBackwardCall final : Call {
  static constexpr std::string_view kName = "sine_cosine_backward";
  Tensor dy;
  Tensor y;
  bool cosine_first = false;
  Tensor dangles;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("cosine_first", cosine_first);
    visitor.Input("dy", dy);
    visitor.Input("y", y);
    visitor.Output("dangles", dangles);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().SineCosineBackward(dy, y, cosine_first, dangles);
  }
};

struct RotateByCall final : Call {
  static constexpr std::string_view kName = "rotate_by";
  Tensor x;
  Tensor cosine;
  Tensor sine;
  bool transpose = false;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("transpose", transpose);
    visitor.Input("x", x);
    visitor.Input("cosine", cosine);
    visitor.Input("sine", sine);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().RotateBy(x, cosine, sine, transpose, y);
  }
};

struct RotateByBackwardAnglesCall final : Call {
  static constexpr std::string_view kName = "rotate_by_backward_angles";
  Tensor dy;
  Tensor x;
  Tensor dcosine;
  Tensor dsine;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Output("dcosine", dcosine);
    visitor.Output("dsine", dsine);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().RotateByBackwardAngles(dy, x, dcosine, dsine);
  }
};

struct GatedForwardCall final : Call {
  static constexpr std::string_view kName = "gated_forward";
  Activation f = Activation::kIdentity;
  bool gate_last = false;
  Tensor x;
  Tensor y;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("f", f);
    visitor.Attribute("gate_last", gate_last);
    visitor.Input("x", x);
    visitor.Output("y", y);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().GatedForward(f, gate_last, x, y);
  }
};

struct GatedBackwardCall final : Call {
  static constexpr std::string_view kName = "gated_backward";
  Activation f = Activation::kIdentity;
  bool gate_last = false;
  Tensor dy;
  Tensor x;
  Tensor dx;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("f", f);
    visitor.Attribute("gate_last", gate_last);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Output("dx", dx);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().GatedBackward(f, gate_last, dy, x, dx);
  }
};

struct RmsForwardCall final : Call {
  static constexpr std::string_view kName = "rms_forward";
  Tensor x;
  Tensor weight;
  double epsilon = 0;
  Tensor y;
  Tensor rstd;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("epsilon", epsilon);
    visitor.Input("x", x);
    visitor.Input("weight", weight);
    visitor.Output("y", y);
    visitor.Output("rstd", rstd);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().RmsForward(x, weight, epsilon, y, rstd);
  }
};

struct RmsBackwardCall final : Call {
  static constexpr std::string_view kName = "rms_backward";
  Tensor dy;
  Tensor x;
  Tensor rstd;
  Tensor weight;
  Tensor dx;
  Tensor dweight;
  bool accumulate = false;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Attribute("accumulate", accumulate);
    visitor.Input("dy", dy);
    visitor.Input("x", x);
    visitor.Input("rstd", rstd);
    visitor.Input("weight", weight);
    visitor.Output("dx", dx);
    visitor.Gradient("dweight", dweight, accumulate);
  }
  std::int64_t Scratch(Backend& backend) const override {
    return backend.sequence().RmsBackwardScratch(x);
  }
  void Run(Backend& backend, void* scratch) override {
    backend.sequence().RmsBackward(dy, x, rstd, weight, dx, dweight, accumulate, scratch);
  }
};

struct LstmForwardCall final : Call {
  static constexpr std::string_view kName = "lstm_forward";
  Tensor gates;
  Tensor cell_before;
  Tensor cell;
  Tensor hidden;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("cell_before", cell_before);
    visitor.Updated("gates", gates);
    visitor.Output("cell", cell);
    visitor.Output("hidden", hidden);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().LstmForward(gates, cell_before, cell, hidden);
  }
};

struct LstmBackwardCall final : Call {
  static constexpr std::string_view kName = "lstm_backward";
  Tensor dhidden;
  Tensor gates;
  Tensor cell_before;
  Tensor cell;
  Tensor dcell;
  Tensor dgates;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("dhidden", dhidden);
    visitor.Input("gates", gates);
    visitor.Input("cell_before", cell_before);
    visitor.Input("cell", cell);
    visitor.Updated("dcell", dcell);
    visitor.Output("dgates", dgates);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().LstmBackward(dhidden, gates, cell_before, cell, dcell, dgates);
  }
};

struct GruForwardCall final : Call {
  static constexpr std::string_view kName = "gru_forward";
  Tensor from_input;
  Tensor from_hidden;
  Tensor hidden_before;
  Tensor hidden;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("hidden_before", hidden_before);
    visitor.Updated("from_input", from_input);
    visitor.Updated("from_hidden", from_hidden);
    visitor.Output("hidden", hidden);
  }
  // A part of from_hidden stays as it is.
  NullExcuses excuses() const override { return {.copy = true}; }
  void Run(Backend& backend, void*) override {
    backend.sequence().GruForward(from_input, from_hidden, hidden_before, hidden);
  }
};

struct GruBackwardCall final : Call {
  static constexpr std::string_view kName = "gru_backward";
  Tensor dhidden;
  Tensor from_input;
  Tensor from_hidden;
  Tensor hidden_before;
  Tensor dhidden_before;

  std::string_view name() const override { return kName; }
  void Visit(CallVisitor& visitor) override {
    visitor.Input("dhidden", dhidden);
    visitor.Input("hidden_before", hidden_before);
    visitor.Updated("from_input", from_input);
    visitor.Updated("from_hidden", from_hidden);
    visitor.Output("dhidden_before", dhidden_before);
  }
  void Run(Backend& backend, void*) override {
    backend.sequence().GruBackward(dhidden, from_input, from_hidden, hidden_before, dhidden_before);
  }
};

}  // namespace frugal
