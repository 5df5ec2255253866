#pragma once

#include <optional>

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"

namespace frugal {

struct ResnetBlockOptions {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t time_features = 0;  // 0: no time embedding
  std::int64_t groups = 32;
  double epsilon = 1e-5;
  bool starts_as_shortcut = true;  // the last convolution starts at zero
};

// The residual block of diffusion U-Nets (Ho et al., arXiv:2006.11239, appendix B): norm, SiLU,
// convolution, the time's features added, norm, SiLU, convolution; beside it a 1x1 convolution
// where the channels change. With two axes it works on images [N, H, W, C] by 3 x 3 kernels, with
// three on videos [N, F, H, W, C] by kernels of three frames. Parameters: norm1, conv1,
// time_emb_proj, norm2, conv2, conv_shortcut.
template <std::size_t kAxes>
class ResnetBlock final : public Module {
 public:
  explicit ResnetBlock(const ResnetBlockOptions& options);

  // `c` [N, time_features] is the time behind its SiLU; empty where there is none. One with fewer
  // rows has one for as many samples in a row: the frames of a video.
  Var operator()(Context& context, const Var& x, const Var& c);
  std::string Describe() const { return "resnet block, " + conv1_.Describe(); }

 private:
  GroupNormLayer norm1_;
  ConvolutionLayer<kAxes> conv1_;
  std::optional<Dense> time_;
  GroupNormLayer norm2_;
  ConvolutionLayer<kAxes> conv2_;
  std::optional<ConvolutionLayer<kAxes>> shortcut_;
};
using ImageResnetBlock = ResnetBlock<2>;
using TemporalResnetBlock = ResnetBlock<3>;

}  // namespace frugal
