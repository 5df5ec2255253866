#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/types/layer_type.h"
#include "layers/types/layer_types.h"
#include "layers/types/shared_fields.h"

// A file of a layer writes its row with these: its options' fields, and how it is made of them.
namespace frugal {

template <class Options>
LayerType RowOf(const std::string& name, std::vector<Field> fields,
                std::unique_ptr<Layer> (*make)(std::int64_t features, const Options&)) {
  return {.name = name,
          .defaults = Options(),
          .fields = MakeFieldTable<Options>(name, std::move(fields)),
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

}  // namespace frugal
