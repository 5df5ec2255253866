#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {

std::vector<LayerType> ContainerTypes() {
  return {
      {ResidualOptions(),
       MakeFieldTable<ResidualOptions>(
           "residual",
           {ActivationField("activation", &ResidualOptions::activation, "Behind the sum.")}),
       {"layers", "shortcut"},
       {}},
      {SequentialOptions(), MakeFieldTable<SequentialOptions>("sequential", {}), {"layers"}, {}}};
}

}  // namespace frugal
