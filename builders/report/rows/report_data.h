#pragma once

#include "builders/plan/blueprint.h"
#include "builders/run/training_result.h"

namespace frugal {

// Holds what a report tells of: a training that has ended.
struct ReportData {
  const Blueprint& blueprint;
  const TrainingResult& result;

  const RunConfig& config() const { return blueprint.config; }
  const DataLayout& layout() const { return blueprint.layout; }
  const TrainingProgram& program() const { return blueprint.program; }
  const Plan& plan() const { return blueprint.plan; }
};

}  // namespace frugal
