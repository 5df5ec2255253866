#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builders/config/types/layer_spec.h"
#include "layers/types/layer_type.h"
#include "presets/config/make_field.h"
#include "sdk/core/registry.h"

namespace frugal {

// All types, ours and those that programs registered.
Registry<LayerType>& LayerTypes();
// Return null if there is none.
const LayerType* LayerTypeOf(const LayerOptions& options);
const LayerType* FindLayerType(std::string_view name);

// "dense", "conv2d", "max_pool2d", ... as TOML spells them.
std::string TypeNameOf(const LayerSpec& layer);

// Makes an L, which is constructed of the input's shape, a batch in front, and its L::Options.
template <class L>
LayerMaker MakerOf() {
  return [](const LayerOptions& options, const Shape& input) -> std::unique_ptr<Layer> {
    return std::make_unique<L>(input, *options.As<typename L::Options>());
  };
}

// Makes a layer of the program's own known by name, with the fields of its L::Options: to TOML,
// to the schema, and to messages. To be called before configurations are read. Throws UsageError
// where the name is taken.
//
//   struct GainOptions { double start = 1; };
//   class Gain : public Layer {
//    public:
//     using Options = GainOptions;
//     Gain(const Shape& input, const Options& options);
//     ...
//   };
//   Register<Gain>("gain", {MakeField("start", &GainOptions::start, "Its first value.")});
template <class L>
const LayerType& Register(const std::string& name, std::vector<Field> fields = {}) {
  using Options = typename L::Options;
  return LayerTypes().Add({.name = name,
                           .defaults = Options(),
                           .fields = MakeFieldTable<Options>(name, std::move(fields)),
                           .make = MakerOf<L>()});
}

}  // namespace frugal
