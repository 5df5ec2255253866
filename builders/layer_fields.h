#pragma once

#include <string_view>
#include <vector>

#include "builders/layer_spec.h"
#include "presets/field.h"

namespace frugal {

// One type of layer as TOML knows it.
struct LayerType {
  LayerOptions defaults;            // the alternative with its default options
  FieldTable fields;                // of that alternative's struct
  std::vector<std::string> nested;  // keys that hold lists of layers: "layers", "shortcut"
};

// All types, in the order of LayerOptions.
const std::vector<LayerType>& LayerTypes();
const LayerType* FindLayerType(std::string_view name);  // null if there is none

// The struct inside the variant, as the field table takes it.
void* StructIn(LayerOptions& options);

}  // namespace frugal
