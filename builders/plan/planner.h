#pragma once

#include "builders/dry_run/trial.h"
#include "builders/plan/planned_training.h"

namespace frugal {

// Prepares a training and plans it. With `custom_layout` the program brings its own data; otherwise
// [data] describes it. Throws ConfigError, ShapeError, or MemoryError where the plan passes
// max_memory_per_device_mb, or nothing fits memory_budget_mb.
PlannedTraining PlanTraining(const RunConfig& config, const DataLayout* custom_layout = nullptr);

// Plans a training that is prepared: chooses the checkpointed segments and sets them on the
// network, and runs the training's steps dry, in the order in which they will run.
PlannedTraining PlanTraining(TrainingSetup setup);

// Plans one more kind of step, e.g. a prediction of another batch size, on what is live after
// training has begun.
StepPlan PlanStep(const PlannedTraining& planned, StepKind kind, std::int64_t batch);

// Tells how the plan runs the steps.
Trial TrialOf(const PlannedTraining& planned);

}  // namespace frugal
