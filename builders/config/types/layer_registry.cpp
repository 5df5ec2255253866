#include "builders/config/types/layer_registry.h"

#include "builders/config/types/list_words.h"
#include "layers/types/layer_types.h"

namespace frugal {
namespace {

std::vector<LayerType> AllTypes() {
  std::vector<LayerType> all = BuiltInLayerTypes();
  for (LayerType& word : ListWords()) all.push_back(std::move(word));
  return all;
}

}  // namespace

Registry<LayerType>& LayerTypes() {
  static Registry<LayerType> types("layer type", AllTypes());
  return types;
}

const LayerType* LayerTypeOf(const LayerOptions& options) {
  for (const LayerType* type : LayerTypes().Rows()) {
    if (type->defaults.type() == options.type()) return type;
  }
  return nullptr;
}

const LayerType* FindLayerType(std::string_view name) { return LayerTypes().Find(name); }

std::string TypeNameOf(const LayerSpec& layer) {
  const LayerType* type = LayerTypeOf(layer.options);
  return type != nullptr ? type->name : layer.type_name;
}

}  // namespace frugal
