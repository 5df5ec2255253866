#pragma once

#include <string>
#include <vector>

#include "builders/config/types/layer_spec.h"
#include "presets/config/config_node.h"
#include "presets/config/diagnostics.h"
#include "presets/config/field.h"
#include "presets/config/origins.h"

namespace frugal {

// The key `name` that every layer may have, for schemas.
const Field& LayerNameField();

// Reads a list of layers, [[model.layers]], and the lists inside it.
std::vector<LayerSpec> ReadLayers(const ConfigNode& list, const std::string& path, Origins& origins,
                                  Diagnostics& diagnostics);

}  // namespace frugal
