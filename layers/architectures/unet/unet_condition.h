#pragma once

#include <memory>

#include "layers/architectures/unet/unet_trunk.h"
#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' UNet2DConditionModel.
struct UNetConditionConfig : UNetTrunkConfig {
  std::int64_t out_channels = 4;
  std::vector<std::string> up_block_types = {"UpBlock2D", "CrossAttnUpBlock2D",
                                             "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"};
  // These keys are our own, for adapted models:
  bool skip_cross_attention = false;        // no context at all (see ContextUse)
  std::int64_t ip_adapter_tokens = 0;       // that a face's features become; 0: no adapter
  std::int64_t ip_adapter_embed_dim = 512;  // of these features
};

// The U-Net of latent diffusion with cross attention to a text (Rombach et al., arXiv:2112.10752;
// SDXL: Podell et al., arXiv:2307.01952), as in diffusers' UNet2DConditionModel. Inputs: x [N, H,
// W, in_channels], H and W multiples of 2^(stages - 1); t [N] in [0, 1000); context [N, S,
// cross_attention_dim]; with num_class_embeds class_labels [N]; with kTextTime text_embeds [N, E]
// and time_ids [N, K]. Output: [N, H, W, out_channels]. With skip_cross_attention there is no
// context; with ip_adapter_tokens image_embeds [N, ip_adapter_embed_dim] come before text_embeds:
// attended to beside the text, decoupled from it (Ye et al., arXiv:2308.06721), as diffusers does
// for IP-Adapter FaceID. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeUNetCondition(const UNetConditionConfig& config);

}  // namespace frugal
