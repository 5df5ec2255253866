#pragma once

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"

namespace frugal {

// Fields of [data] that are about images beside a text, and the other way round: they would be
// dead.
// Images whose name says nothing are refused too, and counts that are not those of built-in images.
void CheckDataFields(const RunConfig& config, Diagnostics& diagnostics);

// The name of images alone (NameProblem).
void CheckDatasetName(const RunConfig& config, Diagnostics& diagnostics);

}  // namespace frugal
