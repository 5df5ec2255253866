#pragma once

#include <memory>

#include "builders/config/types/layer_spec.h"

namespace frugal {

// The layer that takes an input of this shape, [N, ..., features]; null for layers that hold lists
// of layers (residual, sequential). Throws ConfigError where options do not go with the input.
std::unique_ptr<Layer> MakeLayer(const LayerOptions& options, const Shape& input);

}  // namespace frugal
