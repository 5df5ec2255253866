#pragma once

#include "builders/plan/planned_training.h"

namespace frugal {

// Builds the network once more, with the plan as it was made; weights start lazily, and none come
// from a file. Throws UsageError where the network is not the one that the configuration builds, as
// after it was replaced by another.
PlannedTraining CopyTraining(const PlannedTraining& original);

}  // namespace frugal
