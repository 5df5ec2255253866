#pragma once

#include <memory>
#include <optional>

#include "layers/blocks/streams/stream_feed_forward.h"
#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' CogVideoXTransformer3DModel.
struct CogVideoXConfig {
  std::int64_t num_attention_heads = 30;
  std::int64_t attention_head_dim = 64;
  std::int64_t in_channels = 16;
  std::optional<std::int64_t> out_channels{};  // none: in_channels
  bool flip_sin_to_cos = true;
  double freq_shift = 0;
  std::int64_t time_embed_dim = 512;
  std::int64_t text_embed_dim = 4096;
  std::int64_t num_layers = 30;
  bool attention_bias = true;
  std::int64_t sample_width = 90;  // of the latents
  std::int64_t sample_height = 60;
  std::int64_t sample_frames = 49;  // of the video; every temporal_compression_ratio is a latent
  std::int64_t patch_size = 2;
  std::int64_t temporal_compression_ratio = 4;
  std::int64_t max_text_seq_length = 226;
  FeedForwardKind activation_fn = FeedForwardKind::kGeluTanh;
  bool norm_elementwise_affine = true;
  double norm_eps = 1e-5;
  double spatial_interpolation_scale = 1.875;
  double temporal_interpolation_scale = 1;
};

// The text-to-video transformer CogVideoX with sinusoidal positions, as its 2B model (Yang et al.,
// arXiv:2408.06072). Inputs: x [N, F, H, W, in_channels], context [N, max_text_seq_length,
// text_embed_dim], t [N] in [0, 1000). Output: [N, F, H, W, out_channels]. H and W are multiples of
// patch_size. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeCogVideoX(const CogVideoXConfig& config);

}  // namespace frugal
