#pragma once

#include "sdk/module/layer.h"
#include "sdk/ops/activation.h"

namespace frugal {

// Layers without parameters.

struct ActivationOptions {
  ActivationFunction function{};
};

class ActivationLayer final : public Layer {
 public:
  explicit ActivationLayer(const ActivationOptions& options) : function_(options.function) {}

  LayerKind kind() const override { return LayerKind::kActivation; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override { return std::string(NameOf(function_.kind)); }

 private:
  Var Forward(Context& context, const Var& input) override;

  ActivationFunction function_;
};

struct DropoutOptions {
  double rate = 0.5;  // probability that an element is dropped, in [0, 1)
};

// Its masks follow from (seed, step, path): the same with and without recomputation.
class DropoutLayer final : public Layer {
 public:
  // Throws ConfigError where the rate is outside [0, 1).
  explicit DropoutLayer(const DropoutOptions& options);

  LayerKind kind() const override { return LayerKind::kDropout; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  double rate_;
};

struct FlattenOptions {};

// [N, a, ..., C] -> [N, features], in the channels-first order of public checkpoints.
class FlattenLayer final : public Layer {
 public:
  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override { return "flatten"; }

 private:
  Var Forward(Context& context, const Var& input) override;
};

}  // namespace frugal
