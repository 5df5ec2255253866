#pragma once

#include <string>

#include "builders/execute/training_result.h"
#include "sdk/plan/plan.h"

namespace frugal {

// Planned beside measured peaks in bytes, with a mark for equality, then what the plan does not
// cover: the process's resident memory and allocations after the first step.
std::string MemoryTableText(const Plan& plan, const TrainingResult& result);

}  // namespace frugal
