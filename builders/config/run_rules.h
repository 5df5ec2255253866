#pragma once

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"

namespace frugal {

// Contradictions between fields of different sections, all at once. `custom_data` says that the
// program brings its own data, so [data] need not describe any.
void CheckRun(const RunConfig& config, bool custom_data, Diagnostics& diagnostics);

}  // namespace frugal
