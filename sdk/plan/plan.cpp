#include "sdk/plan/plan.h"

#include <algorithm>
#include <array>

namespace frugal {

std::string_view NameOf(StepKind kind) {
  constexpr std::array<std::string_view, 3> names = {"train", "evaluate", "predict"};
  return names[static_cast<std::size_t>(kind)];
}

const StepPlan* Plan::Find(StepKind kind, std::int64_t batch) const {
  const auto found = std::ranges::find_if(
      steps, [&](const StepPlan& step) { return step.kind == kind && step.batch == batch; });
  return found == steps.end() ? nullptr : &*found;
}

}  // namespace frugal
