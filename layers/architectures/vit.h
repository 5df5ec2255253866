#pragma once

#include <memory>

#include "layers/sequential.h"

namespace frugal {

// Keys of the public checkpoints' config.json, and the number of labels.
struct VitConfig {
  std::int64_t image_size = 224;
  std::int64_t patch_size = 16;
  std::int64_t num_channels = 3;
  std::int64_t hidden_size = 768;
  std::int64_t intermediate_size = 3072;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t num_labels = 1000;
  double layer_norm_eps = 1e-12;
  bool qkv_bias = true;
  double hidden_dropout_prob = 0;
};

// The vision transformer (Dosovitskiy et al., arXiv:2010.11929): images [N, image_size, image_size,
// num_channels] -> logits [N, num_labels], from a class token. Parameters as in the public
// checkpoints of ViTForImageClassification. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeVit(const VitConfig& config);

}  // namespace frugal
