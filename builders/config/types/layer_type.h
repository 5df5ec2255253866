#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "builders/config/types/layer_spec.h"
#include "presets/config/field.h"

namespace frugal {

// One type of layer as TOML knows it.
struct LayerType {
  LayerOptions defaults;            // the alternative with its default options
  FieldTable fields;                // of that alternative's struct; its name is the type's
  std::vector<std::string> nested;  // keys that hold lists of layers: "layers", "shortcut"
  // Makes the layer for an input of so many features; none for types that hold lists of layers.
  // Throws ConfigError where options do not go with the input.
  std::function<std::unique_ptr<Layer>(const LayerOptions& options, std::int64_t features)> make;
};

}  // namespace frugal
