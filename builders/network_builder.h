#pragma once

#include <memory>
#include <vector>

#include "builders/layer_spec.h"
#include "layers/sequential.h"
#include "sdk/backend/backend.h"

namespace frugal {

// Builds the layers and infers their sizes by walking a batch of `input` [N, sample...] through
// them dry. Takes no parameter memory. Throws ConfigError or ShapeError naming the layer,
// "[model.layers.3 (conv2d)] ...", where they do not chain.
std::unique_ptr<Sequential> BuildNetwork(const std::vector<LayerSpec>& layers, const Shape& input,
                                         Backend& backend, DType dtype);

}  // namespace frugal
