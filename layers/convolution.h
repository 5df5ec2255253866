#pragma once

#include <optional>

#include "layers/window_options.h"
#include "sdk/module/layer.h"

namespace frugal {

// Describes a convolution over one to three spatial axes.
template <std::size_t kAxes>
struct ConvolutionOptions {
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
using Conv1dOptions = ConvolutionOptions<1>;
using Conv2dOptions = ConvolutionOptions<2>;
using Conv3dOptions = ConvolutionOptions<3>;

// [N, spatial..., channels] -> [N, spatial'..., filters].
// Parameters: weight [filters, channels / groups, kernel...], bias [filters].
template <std::size_t kAxes>
class ConvolutionLayer final : public Layer {
 public:
  // Throws ConfigError where groups do not divide the channels or a window extent is wrong.
  ConvolutionLayer(std::int64_t channels, const ConvolutionOptions<kAxes>& options);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  ConvolutionOptions<kAxes> options_;
  WindowOptions window_;
  Parameter& weight_;
  Parameter* bias_;
};
using Conv1d = ConvolutionLayer<1>;  // [N, L, C]
using Conv2d = ConvolutionLayer<2>;  // [N, H, W, C]
using Conv3d = ConvolutionLayer<3>;  // [N, D, H, W, C]

}  // namespace frugal
