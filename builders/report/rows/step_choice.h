#pragma once

#include <cstdint>
#include <vector>

#include "sdk/plan/plan.h"

namespace frugal {

// The training step that stands for the run: of the full batch, else the first that was planned;
// null where no training step was planned.
const StepPlan* MainStepOf(const Plan& plan, std::int64_t batch);

}  // namespace frugal
