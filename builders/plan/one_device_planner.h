#pragma once

#include "builders/dry_run/trial.h"
#include "builders/plan/planned_training.h"

namespace frugal {

// Plans what one device does of a training that is prepared: chooses the checkpointed segments and
// sets them on the network, and runs the training's steps dry, in the order in which they will run.
PlannedTraining PlanOneDevice(TrainingSetup setup);

// Plans one more kind of step, e.g. a prediction of another batch size, on what is live after
// training has begun.
StepPlan PlanStep(const PlannedTraining& planned, StepKind kind, std::int64_t batch);

// Tells how the plan runs the steps.
Trial TrialOf(const PlannedTraining& planned);

}  // namespace frugal
