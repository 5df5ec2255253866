#pragma once

#include <memory>
#include <vector>

#include "builders/config/run_config.h"
#include "layers/sequential.h"
#include "sdk/backend/backend.h"

namespace frugal {

// Describes what a chain of layers is given: a batch of inputs.
struct LayerInput {
  Shape shape;  // [N, sample...]
  DType dtype = DType::kF32;
};

// Builds the layers and infers their sizes by walking an input through them dry. Takes no parameter
// memory. Throws ConfigError or ShapeError naming the layer, "[model.layers.3 (conv2d)] ...", where
// they do not chain.
std::unique_ptr<Sequential> BuildLayers(const std::vector<LayerSpec>& layers,
                                        const LayerInput& input, Backend& backend, DType dtype);

// The network that the configuration describes, layer by layer or by family.
std::unique_ptr<Sequential> BuildNetwork(const ModelOptions& model, const LayerInput& input,
                                         Backend& backend, DType dtype);

}  // namespace frugal
