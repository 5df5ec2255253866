#pragma once

#include <optional>

#include "builders/setup/blueprint.h"

namespace frugal {

// Where the configuration has a memory budget: the segments of the network's leaves to plan with;
// settings that were chosen beside them are in force in the blueprint, and plan.budget says what
// was chosen and why. Nothing where there is no budget, or where the fields of the configuration
// make the segments. Throws MemoryError where nothing fits.
std::optional<CheckpointSegments> ChooseWithinBudget(Blueprint& blueprint);

}  // namespace frugal
