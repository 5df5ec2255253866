#pragma once

#include "builders/plan/planned_training.h"

namespace frugal {

// Prepares a training and plans it. With `custom_layout` the program brings its own data; otherwise
// [data] describes it. Throws ConfigError, ShapeError, or MemoryError where the plan passes
// max_memory_per_device_mb, or nothing fits memory_budget_mb.
PlannedTraining PlanTraining(const RunConfig& config, const DataLayout* custom_layout = nullptr,
                             PlanPurpose purpose = PlanPurpose::kRun);

// Plans a model that predicts and evaluates and does nothing else: weights, and the memory of these
// steps. It is on one device. Throws as above, for max_memory_per_device_mb too.
PlannedTraining PlanInference(const RunConfig& config, const DataLayout& layout,
                              const InferenceSettings& settings);

// Plans a training that is prepared, on one device or on several.
PlannedTraining PlanTraining(TrainingSetup setup, PlanPurpose purpose = PlanPurpose::kRun);

}  // namespace frugal
