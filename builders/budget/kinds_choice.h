#pragma once

#include <optional>

#include "builders/dry_run/checkpoint_policy.h"
#include "builders/dry_run/trial.h"

namespace frugal {

// Decides what runs again inside the runs that the fields of checkpointing state. What they allow
// need not happen: where a run is a large part of the network, computing all of it again can take
// more than not to. Then blocks become segments inside the run, or run once, whichever peaks least;
// so what is allowed never raises the peak. Returns nothing where all is as stated, or
// a budget or several devices are.
std::optional<CheckpointOptions> ChooseKinds(const TrainingSetup& setup, const SavedBytes& kept);

}  // namespace frugal
