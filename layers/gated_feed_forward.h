#pragma once

#include "sdk/module/layer.h"
#include "sdk/ops/activation.h"

namespace frugal {

struct GatedFeedForwardOptions {
  std::int64_t hidden = 0;
  ActivationFunction activation = Activation::kSilu;  // SwiGLU; kGelu: GEGLU
  bool bias = false;
  double init_std = 0.02;
};

struct GatedFeedForwardNames {
  std::string gate = "gate_proj";
  std::string up = "up_proj";
  std::string down = "down_proj";
};

// down(f(gate(x)) * up(x)) (Shazeer, arXiv:2002.05202): [..., D] -> [..., D]. Parameters: the
// weights of gate and up [hidden, D] and of down [D, hidden], and, with `bias`, their biases.
class GatedFeedForward final : public Layer {
 public:
  // Throws ConfigError where hidden is below 1.
  GatedFeedForward(std::int64_t features, const GatedFeedForwardOptions& options,
                   const GatedFeedForwardNames& names = {});

  LayerKind kind() const override { return LayerKind::kDense; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;
  std::optional<Projection> LastProjection() const override {
    return Projection{down_.weight, down_.bias};
  }

 private:
  struct Affine {
    const Parameter* weight = nullptr;
    const Parameter* bias = nullptr;
  };
  Affine Add(const std::string& name, std::int64_t inputs, std::int64_t outputs);
  Var Forward(Context& context, const Var& input) override;
  Var ForwardUpToProjection(Context& context, const Var& input) override;

  std::int64_t features_;
  GatedFeedForwardOptions options_;
  Affine gate_, up_, down_;
};

}  // namespace frugal
