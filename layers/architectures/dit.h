#pragma once

#include <memory>

#include "layers/sequential.h"

namespace frugal {

// Keys of the publication's models.DiT.
struct DitConfig {
  std::int64_t input_size = 32;  // height and width of the latents
  std::int64_t patch_size = 2;
  std::int64_t in_channels = 4;
  std::int64_t hidden_size = 1152;
  std::int64_t depth = 28;
  std::int64_t num_heads = 16;
  double mlp_ratio = 4;
  double class_dropout_prob = 0.1;  // above 0: one more label, for "no class"
  std::int64_t num_classes = 1000;
  bool learn_sigma = true;  // as many outputs again, for the variance
};

// The diffusion transformer (Peebles & Xie, arXiv:2212.09748; github.com/facebookresearch/DiT).
// Inputs: x [N, input_size, input_size, in_channels], t [N] in [0, 1000), y [N] labels in
// [0, num_classes], of which the last means none. Output: [N, input_size, input_size, in_channels],
// or twice the channels with learn_sigma. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeDit(const DitConfig& config);

// A SiT is a DiT with the variance's outputs left out, and with times in [0, 1] (Ma et al.,
// arXiv:2401.08740; github.com/willisma/SiT).
struct SitConfig : DitConfig {};
std::unique_ptr<Sequential> MakeSit(const SitConfig& config);

}  // namespace frugal
