#pragma once

#include <utility>
#include <vector>

#include "builders/config/types/layer_type.h"

namespace frugal {

template <class Options>
LayerType RowOf(FieldTable fields,
                std::unique_ptr<Layer> (*make)(std::int64_t features, const Options&)) {
  return {.defaults = Options(),
          .fields = std::move(fields),
          .nested = {},
          .make = [make](const LayerOptions& options, std::int64_t features) {
            return make(features, std::get<Options>(options));
          }};
}

// These make a layer of the input's features and options, of options alone, or of neither.
template <class L, class Options>
std::unique_ptr<Layer> OfFeatures(std::int64_t features, const Options& options) {
  return std::make_unique<L>(features, options);
}
template <class L, class Options>
std::unique_ptr<Layer> OfOptions(std::int64_t, const Options& options) {
  return std::make_unique<L>(options);
}
template <class L, class Options>
std::unique_ptr<Layer> OfNothing(std::int64_t, const Options&) {
  return std::make_unique<L>();
}

// The types of layers with their field tables, family by family;
// builders/config/types/layer_registry.h joins them in this order.
std::vector<LayerType> BasicTypes();
std::vector<LayerType> ConvolutionTypes();
std::vector<LayerType> PoolingTypes();
std::vector<LayerType> NormTypes();
std::vector<LayerType> SequenceTypes();
std::vector<LayerType> TransformerTypes();
std::vector<LayerType> ContainerTypes();

}  // namespace frugal
