#pragma once

#include "builders/budget/footprint.h"
#include "builders/budget/free_knobs.h"
#include "sdk/plan/chain_planner.h"

namespace frugal {

// A way to train, and what a dry run of it takes.
struct BudgetCandidate {
  StepSettings settings;
  ChainChoice chain;  // segments of the network's leaves; nothing where the fields make them
  Footprint footprint;
  double seconds = 0;  // predicted, of forward and backward passes of a step
};

}  // namespace frugal
