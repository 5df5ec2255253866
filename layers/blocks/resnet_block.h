#pragma once

#include <optional>

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"

namespace frugal {

enum class Resampling : std::uint8_t { kNone, kHalve, kDouble };

struct ResnetBlockOptions {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t time_features = 0;  // 0: no time embedding
  std::int64_t groups = 32;
  double eps = 1e-5;
  bool starts_as_shortcut = true;  // the last convolution starts at zero
  bool scales = false;             // the time's features scale and shift what is normed
  bool always_projects = false;    // the shortcut is a convolution also where the channels stay
  double output_factor = 1;        // of the sum with the shortcut
  Resampling resampling = Resampling::kNone;  // of images, before the first convolution
};

// The residual block of diffusion U-Nets (Ho et al., arXiv:2006.11239, appendix B): norm, SiLU,
// convolution, the time's features added, norm, SiLU, convolution; beside it a 1x1 convolution
// where the channels change. With `scales` the time's features are a scale and a shift behind the
// second norm (Nichol & Dhariwal, arXiv:2102.09672, appendix A), the scale first. With `resampling`
// it halves images by means or doubles them by nearest pixels, the shortcut's too (BigGAN's: Brock
// et al., arXiv:1809.11096; in diffusion: Dhariwal & Nichol, arXiv:2105.05233). With two axes it
// works on images [N, H, W, C] by 3 x 3 kernels, with three on videos [N, F, H, W, C] by kernels of
// three frames. Parameters: norm1, conv1, time_emb_proj, norm2, conv2, conv_shortcut.
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
  bool scales_;
  Resampling resampling_;
  double output_factor_;
};
using ImageResnetBlock = ResnetBlock<2>;
using TemporalResnetBlock = ResnetBlock<3>;

}  // namespace frugal
