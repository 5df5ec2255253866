#include "builders/layer_types/families.h"
#include "builders/layer_types/shared_fields.h"

namespace frugal {

std::vector<LayerType> ContainerTypes() {
  return {{ResidualOptions(),
           MakeFieldTable<ResidualOptions>(
               "residual",
               {ActivationField("activation", &ResidualOptions::activation, "Behind the sum.")}),
           {"layers", "shortcut"}},
          {SequentialOptions(), MakeFieldTable<SequentialOptions>("sequential", {}), {"layers"}}};
}

}  // namespace frugal
