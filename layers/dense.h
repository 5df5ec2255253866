#pragma once

#include <optional>

#include "sdk/backend/product_kernels.h"
#include "sdk/module/layer.h"
#include "sdk/ops/activation.h"

namespace frugal {

struct DenseOptions {
  std::int64_t units = 0;  // output features
  ActivationFunction activation{};
  bool bias = true;
  // He normal before a ReLU-like activation, else Xavier uniform.
  std::optional<Initializer> initializer{};
  WeightLayout layout = WeightLayout::kOutIn;
};

// [..., inputs] -> [..., units]. Parameters: weight [units, inputs], or [inputs, units] with
// kInOut, and bias [units].
class Dense final : public Layer {
 public:
  Dense(std::int64_t inputs, const DenseOptions& options);

  LayerKind kind() const override { return LayerKind::kDense; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;
  // The whole layer, where it has no activation.
  std::optional<Projection> LastProjection() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  DenseOptions options_;
  Parameter& weight_;
  Parameter* bias_;
};

// Returns what a layer before `activation` starts with where its options do not say.
Initializer DefaultInitializer(ActivationFunction activation);

}  // namespace frugal
