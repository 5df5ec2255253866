#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "presets/config/field.h"
#include "sdk/core/own_options.h"
#include "sdk/core/shape.h"
#include "sdk/module/layer.h"

namespace frugal {

// The options of one layer: the struct of its type.
using LayerOptions = OwnOptions;

// Makes a layer of its options for an input of this shape, a batch in front. Throws ConfigError or
// ShapeError where they do not go together.
using LayerMaker =
    std::function<std::unique_ptr<Layer>(const LayerOptions& options, const Shape& input)>;

// One type of layer as files know it.
struct LayerType {
  std::string name;                   // { type = "dense" }
  LayerOptions defaults;              // the type's struct
  FieldTable fields;                  // of that struct
  LayerMaker make;                    // none for types that the network's builder knows itself
  std::vector<std::string> nested{};  // keys that hold lists of layers: "layers", "shortcut"
};

}  // namespace frugal
