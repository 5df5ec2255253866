#pragma once

#include <string>
#include <vector>

#include "layers/types/layer_type.h"
#include "presets/config/config_node.h"

namespace frugal {

// Options of a layer that a function of the program makes (LayerList::Custom).
struct CustomLayerOptions {};

// A layer as the user describes it, without the sizes that follow from its input. A plain value.
struct LayerSpec {
  LayerOptions options;
  std::string name;                 // its part of parameter paths; empty: its position
  std::vector<LayerSpec> layers;    // of a residual's body or a sequential
  std::vector<LayerSpec> shortcut;  // of a residual, where the input itself has another shape
  SourceLocation location{};        // where a file describes it, for messages
  // Makes it, where its type is not registered.
  LayerMaker make{};
  std::string type_name{};  // which messages call it by then
};

}  // namespace frugal
