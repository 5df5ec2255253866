#pragma once

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"

namespace frugal {

// Refuses values of [snapshots] that nothing would read.
void CheckSnapshotRules(const RunConfig& config, Diagnostics& diagnostics);

}  // namespace frugal
