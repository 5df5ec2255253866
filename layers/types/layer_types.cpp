#include "layers/types/layer_types.h"

#include "layers/types/layer_type.h"

namespace frugal {

std::vector<LayerType> BuiltInLayerTypes() {
  std::vector<LayerType> types;
#define FRUGAL_ADD(name) types.push_back(name());
  FRUGAL_LAYER_TYPES(FRUGAL_ADD)
#undef FRUGAL_ADD
  return types;
}

}  // namespace frugal
