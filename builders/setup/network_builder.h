#pragma once

#include <memory>
#include <vector>

#include "builders/config/run_config.h"
#include "builders/setup/named_values.h"
#include "layers/sequential.h"
#include "sdk/backend/backend.h"

namespace frugal {

// Builds the layers and infers their sizes by walking an input through them dry. `conditions` are
// what the data have beside their first input, which layers read by their names. Takes no parameter
// memory. Throws ConfigError or ShapeError naming the layer, "[model.layers.3 (conv2d)] ...", where
// they do not chain.
std::unique_ptr<Sequential> BuildLayers(const std::vector<LayerSpec>& layers,
                                        const LayerInput& input, Backend& backend, DType dtype,
                                        const NetworkInputs& conditions = {});

// The network that the configuration describes, layer by layer or by family.
std::unique_ptr<Sequential> BuildNetwork(const ModelOptions& model, const LayerInput& input,
                                         Backend& backend, DType dtype,
                                         const NetworkInputs& conditions);

}  // namespace frugal
