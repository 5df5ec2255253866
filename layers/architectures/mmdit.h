#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "layers/blocks/streams/stream_projection.h"
#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' SD3Transformer2DModel.
struct MmditConfig {
  std::int64_t sample_size = 128;  // height and width of the latents, the unit of positions
  std::int64_t patch_size = 2;
  std::int64_t in_channels = 16;
  std::optional<std::int64_t> out_channels{};  // none: in_channels
  std::int64_t num_layers = 24;
  std::int64_t attention_head_dim = 64;
  std::int64_t num_attention_heads = 24;
  std::int64_t joint_attention_dim = 4096;  // features of the text
  std::int64_t caption_projection_dim = 1536;
  std::int64_t pooled_projection_dim = 2048;
  std::int64_t pos_embed_max_size = 192;
  std::vector<std::int64_t> dual_attention_layers{};  // blocks where x also attends to itself alone
  QueryKeyNorm qk_norm = QueryKeyNorm::kNone;
};

// The two-stream transformer of Stable Diffusion 3 and 3.5 (Esser et al., arXiv:2403.03206).
// Inputs: x [N, H, W, in_channels], t [N] in [0, 1000), context [N, any, joint_attention_dim],
// pooled [N, pooled_projection_dim]. Output: [N, H, W, out_channels]. H and W are multiples of
// patch_size, at most pos_embed_max_size of them. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeMmdit(const MmditConfig& config);

}  // namespace frugal
