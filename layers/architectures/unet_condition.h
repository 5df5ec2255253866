#pragma once

#include <memory>

#include "layers/architectures/unet_trunk.h"
#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' UNet2DConditionModel.
struct UNetConditionConfig : UNetTrunkConfig {
  std::int64_t out_channels = 4;
  std::vector<std::string> up_block_types = {"UpBlock2D", "CrossAttnUpBlock2D",
                                             "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"};
};

// The U-Net of latent diffusion with cross attention to a text (Rombach et al., arXiv:2112.10752;
// SDXL: Podell et al., arXiv:2307.01952), as in diffusers' UNet2DConditionModel. Inputs: x [N, H,
// W, in_channels], H and W multiples of 2^(stages - 1); t [N] in [0, 1000); context [N, S,
// cross_attention_dim]; with num_class_embeds class_labels [N]; with kTextTime text_embeds [N, E]
// and time_ids [N, K]. Output: [N, H, W, out_channels]. Throws ConfigError for sizes that do not
// fit.
std::unique_ptr<Sequential> MakeUNetCondition(const UNetConditionConfig& config);

}  // namespace frugal
