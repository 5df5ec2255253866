#pragma once

#include <utility>
#include <vector>

#include "builders/config/types/layer_type.h"
#include "builders/config/types/named_options.h"
#include "layers/attention.h"
#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/embedding.h"
#include "layers/gated_feed_forward.h"
#include "layers/joins/again.h"
#include "layers/joins/branches.h"
#include "layers/joins/saved_values.h"
#include "layers/norms.h"
#include "layers/residual.h"
#include "layers/sequence_layers.h"
#include "layers/simple_layers.h"
#include "layers/transposed_convolution.h"
#include "layers/upsample.h"
#include "sdk/train/network_output.h"

namespace frugal {

template <class Options>
LayerType RowOf(FieldTable fields,
                std::unique_ptr<Layer> (*make)(std::int64_t features, const Options&)) {
  std::string name = fields.name;
  return {.name = std::move(name),
          .defaults = Options(),
          .fields = std::move(fields),
          .make = [make](const LayerOptions& options, const Shape& input) {
            return make(input.back(), *options.As<Options>());
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
std::vector<LayerType> NamedValueTypes();

}  // namespace frugal
