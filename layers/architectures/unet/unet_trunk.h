#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace frugal {

enum class AddedEmbedding : std::uint8_t {
  kNone,
  kTextTime,  // a text's features, and numbers such as the image's original size
};

enum class UNetMiddleType : std::uint8_t { kNone, kResnet, kCrossAttention };

// The keys that diffusers' UNet2DConditionModel and ControlNetModel have in common.
struct UNetTrunkConfig {
  std::int64_t sample_size = 64;  // height and width that plans assume; any multiple may be given
  std::int64_t in_channels = 4;
  std::vector<std::string> down_block_types = {"CrossAttnDownBlock2D", "CrossAttnDownBlock2D",
                                               "CrossAttnDownBlock2D", "DownBlock2D"};
  UNetMiddleType mid_block_type = UNetMiddleType::kCrossAttention;
  std::vector<std::int64_t> block_out_channels = {320, 640, 1280, 1280};
  // Lists have one number for all stages, or one for each.
  std::vector<std::int64_t> layers_per_block = {2};
  std::vector<std::int64_t> transformer_layers_per_block = {1};
  std::vector<std::int64_t> cross_attention_dim = {1280};
  std::vector<std::int64_t> attention_head_dim = {8};  // the number of heads, despite its name
  bool only_cross_attention = false;
  bool use_linear_projection = false;
  std::int64_t norm_num_groups = 32;
  double norm_eps = 1e-5;
  bool flip_sin_to_cos = true;
  double freq_shift = 0;
  std::int64_t downsample_padding = 1;
  std::int64_t num_class_embeds = 0;  // 0: not conditioned on classes
  AddedEmbedding addition_embed_type = AddedEmbedding::kNone;
  std::int64_t addition_time_embed_dim = 256;
  std::int64_t projection_class_embeddings_input_dim = 2816;
};

}  // namespace frugal
