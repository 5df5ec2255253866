#pragma once

#include <memory>

#include "layers/sequential.h"

namespace frugal {

// Keys of the publication's libs.uvit.UViT.
struct UVitConfig {
  std::int64_t img_size = 32;
  std::int64_t patch_size = 2;
  std::int64_t in_chans = 4;
  std::int64_t embed_dim = 1152;
  std::int64_t depth = 29;  // blocks: half of them, rounded down, before and behind the middle one
  std::int64_t num_heads = 16;
  double mlp_ratio = 4;
  bool qkv_bias = false;
  bool mlp_time_embed = false;    // two products on the sinusoids of the time
  std::int64_t num_classes = -1;  // -1: no labels
  bool conv = true;               // a 3x3 convolution at the end
  bool skip = true;               // long skips from the first half to the second
};

// The U-shaped vision transformer for diffusion (Bao et al., arXiv:2209.12152;
// github.com/baofff/U-ViT): time and class are tokens beside those of the patches. Inputs: x [N,
// img_size, img_size, in_chans], t [N] in [0, 1000), and with classes y [N]. Output: as x. Throws
// ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeUVit(const UVitConfig& config);

}  // namespace frugal
