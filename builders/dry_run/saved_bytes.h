#pragma once

#include "builders/dry_run/checkpoint_policy.h"
#include "builders/setup/blueprint.h"

namespace frugal {

// What of the step's memory is still live at the end of a recording, by label.
KeptBytes KeptIn(const MemoryTrace& trace, const LabelTable& labels);

// What each layer keeps for backward: what it took in a forward pass that is still live at its end.
KeptBytes MeasureKept(const Blueprint& blueprint);

// Cuts the network as the fields of the configuration say.
void SetPolicySegments(Blueprint& blueprint, const KeptBytes& kept);

}  // namespace frugal
