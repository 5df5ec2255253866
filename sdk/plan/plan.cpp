#include "sdk/plan/plan.h"

#include <algorithm>

namespace frugal {

std::string_view NameOf(StepKind kind) {
  return kind == StepKind::kTrain ? "train" : "evaluate";
}

const StepPlan* Plan::Find(StepKind kind, std::int64_t batch) const {
  const auto found = std::ranges::find_if(
      steps, [&](const StepPlan& step) { return step.kind == kind && step.batch == batch; });
  return found == steps.end() ? nullptr : &*found;
}

}  // namespace frugal
