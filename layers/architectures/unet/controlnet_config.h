#pragma once

#include "layers/architectures/unet/unet_trunk.h"

namespace frugal {

// Keys of diffusers' ControlNetModel.
struct ControlNetConfig : UNetTrunkConfig {
  std::int64_t conditioning_channels = 3;
  std::vector<std::int64_t> conditioning_embedding_out_channels = {16, 32, 96, 256};
};

}  // namespace frugal
