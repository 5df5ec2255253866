#pragma once

#include <vector>

#include "builders/execute/training_result.h"
#include "sdk/plan/plan.h"

namespace frugal {

// Measurements sorted to the layers of a plan: those inside a layer ("block.body.0") count for it.
struct LayerTimes {
  std::vector<LayerMeasurement> layers;  // one for each layer of the plan
  std::vector<LayerMeasurement> others;  // the loss, the optimizer, ...
  double seconds = 0;                    // of all together
};
LayerTimes TimesByLayer(const std::vector<LayerPlan>& layers,
                        const std::vector<LayerMeasurement>& measured);

}  // namespace frugal
