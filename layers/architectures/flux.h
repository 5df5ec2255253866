#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' FluxTransformer2DModel, and two of our own.
struct FluxConfig {
  std::int64_t patch_size = 1;
  std::int64_t in_channels = 64;               // of a token: 2 x 2 latents of 16 channels
  std::optional<std::int64_t> out_channels{};  // none: in_channels
  std::int64_t num_layers = 19;                // blocks of two streams
  std::int64_t num_single_layers = 38;         // blocks of one stream, behind them
  std::int64_t attention_head_dim = 128;
  std::int64_t num_attention_heads = 24;
  std::int64_t joint_attention_dim = 4096;  // features of the text
  std::int64_t pooled_projection_dim = 768;
  bool guidance_embeds = true;
  std::vector<std::int64_t> axes_dims_rope = {16, 56, 56};  // of a head, rotated by each position
  // Rows and columns of the image's tokens. 0: what the other one leaves or, of neither, the most
  // square grid of that many tokens, no higher than wide: 12 tokens are 3 x 4.
  std::int64_t grid_height = 0;
  std::int64_t grid_width = 0;
};

// The rectified flow transformer FLUX.1 (github.com/black-forest-labs/flux), blocks of two streams
// and then of one. Inputs: x [N, T, in_channels], a grid's tokens row by row; context [N, any,
// joint_attention_dim]; pooled [N, pooled_projection_dim]; t [N] in [0, 1]; with guidance_embeds,
// guidance [N]. Output: [N, T, patch_size^2 out_channels]. Token positions are (0, row, column),
// the text's are 0. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeFlux(const FluxConfig& config);

}  // namespace frugal
