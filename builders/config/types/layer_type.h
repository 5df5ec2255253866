#pragma once

#include <string>
#include <vector>

#include "builders/config/types/layer_spec.h"
#include "presets/config/field.h"

namespace frugal {

// One type of layer as TOML knows it.
struct LayerType {
  LayerOptions defaults;            // the alternative with its default options
  FieldTable fields;                // of that alternative's struct
  std::vector<std::string> nested;  // keys that hold lists of layers: "layers", "shortcut"
};

}  // namespace frugal
