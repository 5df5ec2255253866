#pragma once

#include <memory>
#include <string>

#include "layers/sequential.h"

namespace frugal::oracles {

// torchvision's ResNet of basic blocks, one per stage, composed of our layers under its names
// (where it says "downsample", ours say "shortcut"): x [N, H, W, 3] -> [N, classes].
std::unique_ptr<Sequential> MakeResNet(std::int64_t width, std::int64_t classes);

// The name of one of its parameters in the public checkpoint.
std::string PublicName(std::string path);

}  // namespace frugal::oracles
