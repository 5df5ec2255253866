#pragma once

#include <vector>

#include "builders/budget/stage.h"
#include "builders/dry_run/trial.h"
#include "sdk/autograd/checkpoint.h"
#include "sdk/plan/chain.h"

namespace frugal {

// The chain of the setup's network, for the largest part of a batch that goes through at a
// time: its leaves (a residual or another layer with branches is one stage) and the loss. Bytes are
// those of a dry run of each, forward and back, by itself.
std::vector<Stage> MeasureStages(const TrainingSetup& setup, const Trial& trial);

// Runs a stage on the variables that travel into it: its layer, or the loss on targets of zeros.
// The result refers to all three.
TupleSegment RunOf(const TrainingSetup& setup, const Trial& trial, const Stage& stage);

Chain ChainOf(const std::vector<Stage>& stages);

}  // namespace frugal
