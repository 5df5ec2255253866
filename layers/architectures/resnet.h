#pragma once

#include <memory>
#include <vector>

#include "layers/sequential.h"

namespace frugal {

enum class ResNetBlock : std::uint8_t { kBasic, kBottleneck };
std::string_view NameOf(ResNetBlock block);  // "basic", "bottleneck"

struct ResNetConfig {
  ResNetBlock block = ResNetBlock::kBasic;
  std::vector<std::int64_t> layers = {2, 2, 2, 2};  // blocks of each stage
  std::int64_t width = 64;                          // channels of the first stage; doubles
  std::int64_t num_classes = 1000;
  std::int64_t in_channels = 3;
  // A 3x3 stem without pooling, for images of 32 x 32 and less (section 4.2 of the paper).
  bool small_stem = false;
};

// Residual networks (He et al., arXiv:1512.03385) as torchvision has them, the stride of a
// bottleneck in its 3x3 convolution: images [N, H, W, in_channels] -> logits [N, num_classes].
// Parameters as in torchvision's checkpoints. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeResNet(const ResNetConfig& config);

}  // namespace frugal
