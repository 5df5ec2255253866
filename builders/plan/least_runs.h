#pragma once

#include <optional>

#include "builders/dry_run/checkpoint_policy.h"
#include "builders/plan/planned_training.h"

namespace frugal {

// Looks for the number of layers in a run whose peak is least, where checkpointing goes by runs:
// every number is judged by what its runs keep (their inputs, and all of the largest), and the
// three best are planned, and one, two and three runs in all. Returns nothing where no peak is
// below that of the plan, which is complete, and for networks of more than two hundred layers, each
// plan of which takes long.
std::optional<RunsOfLayers> LeastRunsOf(const PlannedTraining& planned, const SavedBytes& kept);

}  // namespace frugal
