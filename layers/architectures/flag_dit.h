#pragma once

#include <memory>
#include <optional>

#include "layers/sequential.h"

namespace frugal {

// Keys of the publication's DiT_Llama.
struct FlagDitConfig {
  std::int64_t input_size = 32;
  std::int64_t patch_size = 2;
  std::int64_t in_channels = 4;
  std::int64_t dim = 1536;
  std::int64_t n_layers = 16;
  std::int64_t n_heads = 32;
  std::optional<std::int64_t> n_kv_heads{};  // not given: as n_heads
  std::int64_t multiple_of = 256;            // of the features inside a feed-forward part
  std::optional<double> ffn_dim_multiplier{};
  double norm_eps = 1e-5;
  double class_dropout_prob = 0.1;  // above 0: one more label, for "no class"
  std::int64_t num_classes = 1000;
  bool learn_sigma = true;  // a variance is predicted too, and left out of the output
  bool qk_norm = true;
};

// Flag-DiT, the class-conditional diffusion transformer of Lumina-T2X (Gao et al.,
// arXiv:2405.05945; github.com/Alpha-VLLM/Lumina-T2X, Flag-DiT-ImageNet): DiT with the parts of
// Llama (RMS norms, rotary positions along the row of patches, gated feed-forward). Inputs: x [N,
// input_size, input_size, in_channels], t [N] in [0, 1], y [N] labels in [0, num_classes]. Output:
// as x. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeFlagDit(const FlagDitConfig& config);

}  // namespace frugal
