#pragma once

#include <optional>

#include "layers/window_options.h"
#include "sdk/module/layer.h"

namespace frugal {

struct Conv2dOptions {
  std::int64_t filters = 0;  // output channels
  PerAxis kernel{};
  PerAxis stride = {1};
  PerAxis padding = {0};
  PerAxis dilation = {1};
  std::int64_t groups = 1;
  ActivationFunction activation{};
  bool bias = true;
  std::optional<Initializer> initializer{};  // as Dense
};

// [N, H, W, channels] -> [N, H', W', filters].
// Parameters: weight [filters, channels / groups, kernel h, kernel w], bias [filters].
class Conv2d final : public Layer {
 public:
  // Throws ConfigError where groups do not divide the channels or a window extent is wrong.
  Conv2d(std::int64_t channels, const Conv2dOptions& options);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  Conv2dOptions options_;
  WindowOptions window_;
  Parameter& weight_;
  Parameter* bias_;
};

}  // namespace frugal
