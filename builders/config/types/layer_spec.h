#pragma once

#include <string>
#include <variant>
#include <vector>

#include "layers/attention.h"
#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/embedding.h"
#include "layers/gated_feed_forward.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/recurrent.h"
#include "layers/residual.h"
#include "layers/sequence_layers.h"
#include "layers/simple_layers.h"
#include "layers/transposed_convolution.h"
#include "layers/upsample.h"
#include "presets/config/config_node.h"

namespace frugal {

// Options of layers that share a struct or have none, told apart by type.
struct MaxPool2dOptions : Pool2dOptions {};
struct AveragePool2dOptions : Pool2dOptions {};
struct LstmOptions : RecurrentOptions {};
struct GruOptions : RecurrentOptions {};
struct FlattenOptions {};
struct ToSequenceOptions {};
struct SequentialOptions {};

// The types are ordered by family, as in builders/config/types. A type that is added here also has
// a row in its family's table and a verb in LayerList.
using LayerOptions = std::variant<
    // basic
    DenseOptions, ActivationOptions, DropoutOptions, FlattenOptions,
    // convolution
    Conv1dOptions, Conv2dOptions, Conv3dOptions, ConvTranspose1dOptions, ConvTranspose2dOptions,
    ConvTranspose3dOptions,
    // pooling and its opposite
    MaxPool2dOptions, AveragePool2dOptions, AdaptivePool2dOptions, UpsampleOptions,
    // norms
    BatchNormOptions, LayerNormOptions, RmsNormOptions, GroupNormOptions,
    // sequences
    ToSequenceOptions, LstmOptions, GruOptions, SequencePoolOptions,
    // transformers
    EmbeddingOptions, PositionOptions, SinusoidOptions, AttentionLayerOptions,
    GatedFeedForwardOptions,
    // of other layers
    ResidualOptions, SequentialOptions>;

// A layer as the user describes it, without the sizes that follow from its input. A plain value.
struct LayerSpec {
  LayerOptions options;
  std::string name;                 // its part of parameter paths; empty: its position
  std::vector<LayerSpec> layers;    // of a residual's body or a sequential
  std::vector<LayerSpec> shortcut;  // of a residual, where the input itself has another shape
  SourceLocation location{};        // where a file describes it, for messages
};

}  // namespace frugal
