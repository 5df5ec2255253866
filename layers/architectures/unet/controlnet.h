#pragma once

#include <memory>

#include "layers/architectures/unet/controlnet_config.h"
#include "layers/sequential.h"

namespace frugal {

// Makes a network that returns what a U-Net's skips and middle are to add for an image that it is
// to follow (Zhang et al., arXiv:2302.05543), as in diffusers' ControlNetModel. Inputs: those of
// the U-Net and behind its context hint [N, f H, f W, conditioning_channels], f = 2^(number of
// embedding channels - 1). Output [N, total]: every residual, those of the way down first, then the
// middle's, each flattened channels first. Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeControlNet(const ControlNetConfig& config);

}  // namespace frugal
