#pragma once

#include <string>
#include <vector>

#include "sdk/plan/plan.h"

namespace frugal {

// The layers, one line each: path, description, output, parameters, bytes kept for backward, and
// brackets around checkpointed segments where there are any.
std::string LayerTableText(const std::vector<LayerPlan>& layers);
// "3..4 inside": checkpointed segments in a layer that is in none itself.
std::string InnerSegmentsText(const SegmentRange& segments);

}  // namespace frugal
