#pragma once

#include <vector>

#include "builders/config/types/layer_type.h"

namespace frugal {

// The types of layers with their field tables, family by family;
// builders/config/types/layer_fields.h joins them in this order, which is that of LayerOptions.
std::vector<LayerType> BasicTypes();
std::vector<LayerType> ConvolutionTypes();
std::vector<LayerType> PoolingTypes();
std::vector<LayerType> NormTypes();
std::vector<LayerType> SequenceTypes();
std::vector<LayerType> TransformerTypes();
std::vector<LayerType> ContainerTypes();

}  // namespace frugal
