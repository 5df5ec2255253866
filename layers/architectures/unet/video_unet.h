#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/sequential.h"

namespace frugal {

// Keys of diffusers' UNetSpatioTemporalConditionModel.
struct VideoUNetConfig {
  std::int64_t sample_size = 96;  // height and width that plans assume; any multiple may be given
  std::int64_t num_frames = 25;   // that plans assume; any number may be given
  std::int64_t in_channels = 8;
  std::int64_t out_channels = 4;
  std::vector<std::string> down_block_types = {
      "CrossAttnDownBlockSpatioTemporal", "CrossAttnDownBlockSpatioTemporal",
      "CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"};
  std::vector<std::string> up_block_types = {
      "UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal",
      "CrossAttnUpBlockSpatioTemporal"};
  std::vector<std::int64_t> block_out_channels = {320, 640, 1280, 1280};  // multiples of 32
  std::int64_t addition_time_embed_dim = 256;
  std::int64_t projection_class_embeddings_input_dim = 768;
  // Lists have one number for all stages, or one for each.
  std::vector<std::int64_t> layers_per_block = {2};
  std::vector<std::int64_t> transformer_layers_per_block = {1};
  std::vector<std::int64_t> cross_attention_dim = {1024};
  std::vector<std::int64_t> num_attention_heads = {5, 10, 20, 20};
};

// The U-Net of Stable Video Diffusion (Blattmann et al., arXiv:2311.15127; its temporal layers:
// arXiv:2304.08818), as in diffusers' UNetSpatioTemporalConditionModel. Inputs: x [N, F, H, W,
// in_channels], H and W multiples of 2^(stages - 1); t [N]; context [N, S, cross_attention_dim],
// one for all frames; time_ids [N, K], K = projection_class_embeddings_input_dim /
// addition_time_embed_dim. Output: [N, F, H, W, out_channels]. Throws ConfigError for sizes that do
// not fit.
std::unique_ptr<Sequential> MakeVideoUNet(const VideoUNetConfig& config);

}  // namespace frugal
