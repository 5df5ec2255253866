#include "builders/config/types/layer_registry.h"

#include <algorithm>

#include "builders/config/types/layer_families.h"

namespace frugal {
namespace {

std::vector<LayerType> AllTypes() {
  std::vector<LayerType> all;
  for (const auto family : {BasicTypes, ConvolutionTypes, PoolingTypes, NormTypes, SequenceTypes,
                            TransformerTypes, ContainerTypes}) {
    for (LayerType& type : family()) all.push_back(std::move(type));
  }
  return all;
}

}  // namespace

const std::vector<LayerType>& LayerTypes() {
  static const std::vector<LayerType> types = AllTypes();
  return types;
}

const LayerType& LayerTypeOf(const LayerOptions& options) {
  return *std::ranges::find(LayerTypes(), options.index(),
                            [](const LayerType& type) { return type.defaults.index(); });
}

const LayerType* FindLayerType(std::string_view name) {
  const auto found =
      std::ranges::find(LayerTypes(), name,
                        [](const LayerType& type) -> std::string_view { return type.fields.name; });
  return found == LayerTypes().end() ? nullptr : &*found;
}

std::string_view TypeNameOf(const LayerOptions& options) {
  return LayerTypeOf(options).fields.name;
}

void* StructIn(LayerOptions& options) {
  return std::visit([](auto& inner) -> void* { return &inner; }, options);
}

}  // namespace frugal
