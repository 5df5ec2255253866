#pragma once

#include <string>
#include <vector>

#include "builders/plan/planned_training.h"

namespace frugal {

// Says what a setting means for this training where that is not what it seems to say, and what was
// assumed of a published model without data, one sentence for each.
std::vector<std::string> NotesOn(const PlannedTraining& planned);

}  // namespace frugal
