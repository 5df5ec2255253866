#pragma once

#include <optional>

#include "layers/window_options.h"
#include "sdk/module/layer.h"

namespace frugal {

// Describes a transposed convolution over one to three spatial axes.
template <std::size_t kAxes>
struct TransposedConvolutionOptions {
  std::int64_t filters = 0;  // output channels
  PerAxis kernel{};
  PerAxis stride = {1};
  PerAxis padding = {0};         // taken off each side of the result
  PerAxis output_padding = {0};  // added to the result's end; less than the stride
  PerAxis dilation = {1};
  std::int64_t groups = 1;
  bool bias = true;
  std::optional<Initializer> initializer{};  // Xavier uniform where not given
};
using ConvTranspose1dOptions = TransposedConvolutionOptions<1>;
using ConvTranspose2dOptions = TransposedConvolutionOptions<2>;
using ConvTranspose3dOptions = TransposedConvolutionOptions<3>;

// [N, spatial..., channels] -> [N, spatial'..., filters], with spatial' = (spatial - 1) stride -
// 2 padding + dilation (kernel - 1) + output_padding + 1.
// Parameters: weight [channels, filters / groups, kernel...], bias [filters].
template <std::size_t kAxes>
class TransposedConvolutionLayer final : public Layer {
 public:
  // Throws ConfigError where groups do not divide the channels, or an extent is wrong.
  TransposedConvolutionLayer(std::int64_t channels,
                             const TransposedConvolutionOptions<kAxes>& options);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  TransposedConvolutionOptions<kAxes> options_;
  WindowOptions window_;
  Spatial output_padding_;
  Parameter& weight_;
  Parameter* bias_;
};
using ConvTranspose1d = TransposedConvolutionLayer<1>;  // [N, L, C]
using ConvTranspose2d = TransposedConvolutionLayer<2>;  // [N, H, W, C]
using ConvTranspose3d = TransposedConvolutionLayer<3>;  // [N, D, H, W, C]

}  // namespace frugal
