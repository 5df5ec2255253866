#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/residual.h"
#include "layers/simple_layers.h"
#include "presets/config_node.h"

namespace frugal {

// Options of layers that share a struct or have none, told apart by type.
struct MaxPool2dOptions : Pool2dOptions {};
struct AveragePool2dOptions : Pool2dOptions {};
struct FlattenOptions {};
struct SequentialOptions {};

using LayerOptions =
    std::variant<DenseOptions, Conv2dOptions, MaxPool2dOptions, AveragePool2dOptions,
                 AdaptivePool2dOptions, BatchNormOptions, LayerNormOptions, GroupNormOptions,
                 ActivationOptions, DropoutOptions, FlattenOptions, ResidualOptions,
                 SequentialOptions>;

// A layer as the user describes it, without the sizes that follow from its input. A plain value.
struct LayerSpec {
  LayerOptions options;
  std::string name;                 // its part of parameter paths; empty: its position
  std::vector<LayerSpec> layers;    // of a residual's body or a sequential
  std::vector<LayerSpec> shortcut;  // of a residual, where the input itself has another shape
  SourceLocation location{};        // where a file describes it, for messages
};

// "dense", "conv2d", "max_pool2d", ... as TOML spells them.
std::string_view TypeNameOf(const LayerOptions& options);

}  // namespace frugal
