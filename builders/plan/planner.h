#pragma once

#include "builders/setup/blueprint.h"

namespace frugal {

// Prepares a blueprint and plans it. With `custom_layout` the program brings its own data;
// otherwise [data] describes it. Throws ConfigError, ShapeError, or MemoryError where the plan
// passes max_memory_per_device_mb, or nothing fits memory_budget_mb.
Blueprint MakeBlueprint(const RunConfig& config, const DataLayout* custom_layout = nullptr);

// Chooses the checkpoint segments, sets them on the network, and fills blueprint.plan by running
// the training's steps dry, in the order in which they will run.
void MakePlan(Blueprint& blueprint);

// Plans one more kind of step, e.g. a prediction of another batch size, on what is live after
// training has begun.
StepPlan PlanStep(const Blueprint& blueprint, StepKind kind, std::int64_t batch);

}  // namespace frugal
