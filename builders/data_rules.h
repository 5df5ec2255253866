#pragma once

#include "builders/run_config.h"
#include "presets/complaints.h"

namespace frugal {

// Fields of [data] that are about images beside a text, and the other way round: they would be
// dead.
void CheckDataFields(const RunConfig& config, Complaints& complaints);

}  // namespace frugal
