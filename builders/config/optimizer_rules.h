#pragma once

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"

namespace frugal {

// Complains about options of an optimizer that its rule does not read, or that contradict each
// other.
void CheckOptimizer(const RunConfig& config, Diagnostics& diagnostics);

}  // namespace frugal
