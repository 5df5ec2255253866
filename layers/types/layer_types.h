#pragma once

#include <vector>

// Our types of layers, in the order in which they are listed: one line for each. NAME stands for a
// function `LayerType NAME()`, the row that the file of the layer's class defines by
// layers/types/row.h.
#define FRUGAL_LAYER_TYPES(TYPE)  \
  TYPE(DenseType)                 \
  TYPE(ActivationType)            \
  TYPE(DropoutType)               \
  TYPE(FlattenType)               \
  TYPE(Conv1dType)                \
  TYPE(Conv2dType)                \
  TYPE(Conv3dType)                \
  TYPE(ConvTranspose1dType)       \
  TYPE(ConvTranspose2dType)       \
  TYPE(ConvTranspose3dType)       \
  TYPE(MaxPool2dType)             \
  TYPE(AveragePool2dType)         \
  TYPE(AdaptiveAveragePool2dType) \
  TYPE(UpsampleType)              \
  TYPE(BatchNormType)             \
  TYPE(LayerNormType)             \
  TYPE(RmsNormType)               \
  TYPE(GroupNormType)             \
  TYPE(LayerScaleType)            \
  TYPE(ToSequenceType)            \
  TYPE(LstmType)                  \
  TYPE(GruType)                   \
  TYPE(SequencePoolType)          \
  TYPE(EmbeddingType)             \
  TYPE(LearnedPositionsType)      \
  TYPE(SinusoidalPositionsType)   \
  TYPE(AttentionType)             \
  TYPE(GatedFeedForwardType)

namespace frugal {

struct LayerType;

#define FRUGAL_DECLARE(name) LayerType name();
FRUGAL_LAYER_TYPES(FRUGAL_DECLARE)
#undef FRUGAL_DECLARE

// Returns the rows of all of them.
std::vector<LayerType> BuiltInLayerTypes();

}  // namespace frugal
