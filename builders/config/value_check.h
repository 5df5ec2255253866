#pragma once

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"

namespace frugal {

// Types and ranges of all values but [memory], as the field tables state them. A file was checked
// when it was read; code may have put anything anywhere.
void CheckValues(const RunConfig& config, Diagnostics& diagnostics);

}  // namespace frugal
