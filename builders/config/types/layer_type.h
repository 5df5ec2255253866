#pragma once

#include <string>
#include <vector>

#include "builders/config/types/layer_spec.h"
#include "presets/config/field.h"

namespace frugal {

// One type of layer as TOML knows it.
struct LayerType {
  std::string name;                   // { type = "dense" }
  LayerOptions defaults;              // the type's struct
  FieldTable fields;                  // of that struct
  LayerMaker make;                    // none for types that hold lists of layers
  std::vector<std::string> nested{};  // keys that hold lists of layers: "layers", "shortcut"
};

}  // namespace frugal
