#pragma once

#include <string>
#include <vector>

#include "builders/layer_spec.h"
#include "presets/complaints.h"
#include "presets/config_node.h"
#include "presets/origins.h"

namespace frugal {

// Reads a list of layers, [[model.layers]], and the lists inside it.
std::vector<LayerSpec> ReadLayers(const ConfigNode& list, const std::string& path, Origins& origins,
                                  Complaints& complaints);

}  // namespace frugal
