#pragma once

#include <memory>
#include <optional>

#include "layers/blocks/streams/stream_projection.h"
#include "layers/sequential.h"

namespace frugal {

// Keys of Nitro-E's EMMDiTTransformer.
struct EmmditConfig {
  std::int64_t sample_size = 16;  // height and width of the latents
  std::int64_t patch_size = 1;    // the publication has no other
  std::int64_t in_channels = 32;
  std::int64_t num_layers = 24;  // 4, 16 and 4: the publication has no others
  std::int64_t attention_head_dim = 32;
  std::int64_t num_attention_heads = 24;
  std::int64_t caption_channels = 2048;  // features of the text
  std::int64_t caption_projection_dim = 768;
  std::optional<std::int64_t> out_channels{};  // none: in_channels
  std::int64_t pos_embed_max_size = 96;
  bool use_sub_attn = true;  // two of three blocks attend within parts of the tokens
  QueryKeyNorm qk_norm = QueryKeyNorm::kRms;
};

// The two-stream transformer of Nitro-E (Shen et al., "E-MMDiT: Revisiting multimodal diffusion
// transformer design for fast image synthesis under limited resources";
// github.com/AMD-AGI/Nitro-E): its middle blocks work on compressed tokens, and attention
// alternates between all tokens and parts of them. Inputs: x [N, sample_size, sample_size,
// in_channels], context [N, S, caption_channels], t [N] in [0, 1000). Output: [N, sample_size,
// sample_size, out_channels]. With use_sub_attn, S is a multiple of 16. Throws ConfigError for
// sizes that do not fit.
std::unique_ptr<Sequential> MakeEmmdit(const EmmditConfig& config);

}  // namespace frugal
