#pragma once

#include <string_view>
#include <vector>

#include "builders/config/types/layer_type.h"

namespace frugal {

// All types: one for each alternative of LayerOptions.
const std::vector<LayerType>& LayerTypes();
const LayerType& LayerTypeOf(const LayerOptions& options);
const LayerType* FindLayerType(std::string_view name);  // null if there is none

// "dense", "conv2d", "max_pool2d", ... as TOML spells them.
std::string_view TypeNameOf(const LayerOptions& options);

// The struct inside the variant, as the field table takes it.
void* StructIn(LayerOptions& options);

}  // namespace frugal
