#pragma once

#include <memory>
#include <optional>

#include "layers/blocks/streams/stream_feed_forward.h"
#include "layers/blocks/streams/stream_projection.h"
#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' MochiTransformer3DModel.
struct AsymmDitConfig {
  std::int64_t patch_size = 2;
  std::int64_t num_attention_heads = 24;
  std::int64_t attention_head_dim = 128;
  std::int64_t num_layers = 48;
  std::int64_t pooled_projection_dim = 1536;  // features of the text's stream
  std::int64_t in_channels = 12;
  std::optional<std::int64_t> out_channels{};  // none: in_channels
  QueryKeyNorm qk_norm = QueryKeyNorm::kRms;
  std::int64_t text_embed_dim = 4096;
  std::int64_t time_embed_dim = 256;  // sinusoids of a time
  FeedForwardKind activation_fn = FeedForwardKind::kSwiglu;
  std::int64_t max_sequence_length = 256;  // tokens of text that plans assume
};

// The text-to-video transformer Mochi 1 (github.com/genmoai/mochi), two streams of different width
// and learned rotary frequencies. Inputs: x [N, F, H, W, in_channels], context [N, S,
// text_embed_dim], t [N] in [0, 1000), mask [N, S]: 1 for tokens of text, 0 for padding behind
// them, which nothing attends to. Output: [N, F, H, W, out_channels]. H and W are multiples of
// patch_size. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeAsymmDit(const AsymmDitConfig& config);

}  // namespace frugal
