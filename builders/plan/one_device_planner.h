#pragma once

#include "builders/dry_run/trial.h"
#include "builders/plan/planned_training.h"
#include "sdk/memory/step_memory.h"

namespace frugal {

// Plans what one device does of a training that is prepared: chooses the checkpointed segments and
// sets them on the network, and runs the training's steps dry, in the order in which they will run.
PlannedTraining PlanOneDevice(TrainingSetup setup);

// Plans one more kind of step, e.g. a prediction of another batch size, on what is live after
// training has begun.
StepPlan PlanStep(const PlannedTraining& planned, StepKind kind, std::int64_t batch);

// Plans the memory of a step of the plan, block by block, as it is when the steps before it in the
// plan have run.
StepMemory PlanStepMemory(const PlannedTraining& planned, const StepPlan& step);
// Returns the step that the plan peaks in.
const StepPlan& PeakStepOf(const Plan& plan);

// "by kind of operation there are data 52.4 MB, matmul 2.1 MB in 4 places, ...": what makes up the
// plan's peak, the `most` largest; for refusals.
std::string PeakKindsText(const PlannedTraining& planned, std::size_t most);

// Names the forms of parameters' blocks, which ledgers do not know.
void FillForms(const TrainingSetup& setup, StepMemory& memory);

// Tells how the plan runs the steps.
Trial TrialOf(const PlannedTraining& planned);

}  // namespace frugal
