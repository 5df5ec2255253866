#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' UNet2DModel.
struct UNetConfig {
  std::int64_t sample_size = 32;  // height and width that plans assume; any multiple may be given
  std::int64_t in_channels = 3;
  std::int64_t out_channels = 3;
  std::vector<std::string> down_block_types = {"DownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D",
                                               "AttnDownBlock2D"};
  std::vector<std::string> up_block_types = {"AttnUpBlock2D", "AttnUpBlock2D", "AttnUpBlock2D",
                                             "UpBlock2D"};
  std::vector<std::int64_t> block_out_channels = {224, 448, 672, 896};
  std::int64_t layers_per_block = 2;
  std::optional<std::int64_t> attention_head_dim = 8;  // channels of a head; none: one head
  bool add_attention = true;                           // in the middle
  std::int64_t norm_num_groups = 32;
  double norm_eps = 1e-5;
  bool flip_sin_to_cos = true;
  double freq_shift = 0;
  std::int64_t downsample_padding = 1;
  std::int64_t num_class_embeds = 0;  // 0: not conditioned on classes
};

// The U-Net of denoising diffusion (Ho et al., arXiv:2006.11239) as in diffusers' UNet2DModel.
// Inputs: x [N, H, W, in_channels], H and W multiples of 2^(stages - 1); t [N] in [0, 1000); with
// classes class_labels [N]. Output: [N, H, W, out_channels]. Throws ConfigError for sizes that do
// not fit.
std::unique_ptr<Sequential> MakeUNet(const UNetConfig& config);

}  // namespace frugal
