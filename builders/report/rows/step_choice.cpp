#include "builders/report/rows/step_choice.h"

#include <algorithm>

namespace frugal {

const StepPlan* MainStepOf(const Plan& plan, std::int64_t batch) {
  if (const StepPlan* full = plan.Find(StepKind::kTrain, batch)) return full;
  const auto found = std::ranges::find(plan.steps, StepKind::kTrain, &StepPlan::kind);
  return found == plan.steps.end() ? nullptr : &*found;
}

}  // namespace frugal
