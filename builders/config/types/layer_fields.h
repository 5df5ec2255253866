#pragma once

#include <string_view>
#include <vector>

#include "builders/config/types/layer_type.h"

namespace frugal {

// All types, in the order of LayerOptions.
const std::vector<LayerType>& LayerTypes();
const LayerType* FindLayerType(std::string_view name);  // null if there is none

// The struct inside the variant, as the field table takes it.
void* StructIn(LayerOptions& options);

}  // namespace frugal
