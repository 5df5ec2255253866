#pragma once

#include <string>
#include <vector>

#include "sdk/plan/plan.h"

namespace frugal {

// The layers, one line each: path, description, output, parameters, bytes kept for backward, and
// brackets around checkpointed segments where there are any.
std::string LayerTableText(const std::vector<LayerPlan>& layers);

}  // namespace frugal
