#pragma once

#include "builders/execute/training_result.h"
#include "builders/plan/planned_training.h"

namespace frugal {

// Holds what a report tells of: a training that has ended.
struct ReportData {
  const PlannedTraining& planned;
  const TrainingResult& result;

  const RunConfig& config() const { return planned.config; }
  const DataLayout& layout() const { return planned.layout; }
  const EpochSchedule& schedule() const { return planned.schedule; }
  const Plan& plan() const { return planned.plan; }
};

}  // namespace frugal
