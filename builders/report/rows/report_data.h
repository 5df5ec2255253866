#pragma once

#include "builders/plan/blueprint.h"
#include "builders/run/training_result.h"

namespace frugal {

// Holds what a report tells of: a training that has ended.
struct ReportData {
  const RunConfig& config;
  const DataLayout& layout;
  const TrainingProgram& program;
  const Plan& plan;
  const TrainingResult& result;
};

}  // namespace frugal
