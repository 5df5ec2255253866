#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' AutoencoderKL.
struct VaeKlConfig {
  std::int64_t sample_size = 512;  // height and width that plans assume; any multiple may be given
  std::int64_t in_channels = 3;
  std::int64_t out_channels = 3;
  std::int64_t latent_channels = 4;
  std::vector<std::string> down_block_types = {"DownEncoderBlock2D", "DownEncoderBlock2D",
                                               "DownEncoderBlock2D", "DownEncoderBlock2D"};
  std::vector<std::string> up_block_types = {"UpDecoderBlock2D", "UpDecoderBlock2D",
                                             "UpDecoderBlock2D", "UpDecoderBlock2D"};
  std::vector<std::int64_t> block_out_channels = {128, 256, 512, 512};
  std::int64_t layers_per_block = 2;
  std::int64_t norm_num_groups = 32;
  bool use_quant_conv = true;
  bool use_post_quant_conv = true;
  bool mid_block_add_attention = true;
};

// The autoencoder of latent diffusion (Rombach et al., arXiv:2112.10752), as in diffusers'
// AutoencoderKL: images through the mode of their posterior and back. Input: x [N, H, W,
// in_channels], H and W multiples of 2^(stages - 1). Output: [N, H, W, out_channels]. Throws
// ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeVaeKl(const VaeKlConfig& config);

}  // namespace frugal
