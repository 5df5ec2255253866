#include "builders/plan/needed_bytes.h"

#include <algorithm>

#include "sdk/comm/launched_ranks.h"

namespace frugal {
namespace {

bool IsOnThisMachine(std::size_t device) {
  if (Launched() == nullptr) return true;
  return std::ranges::count(Launched()->on_machine, static_cast<int>(device)) > 0;
}

}  // namespace

std::int64_t NeededBytes(const PlannedTraining& planned) {
  const Plan& plan = planned.plan;
  if (plan.devices) {
    std::int64_t bytes = plan.devices->link_bytes;
    for (std::size_t i = 0; i < plan.devices->devices.size(); ++i) {
      if (IsOnThisMachine(i)) bytes += plan.devices->devices[i].needed_bytes;
    }
    return bytes;
  }
  std::int64_t bytes = plan.peak_bytes;
  if (!planned.config.memory.use_activation_pooling) return bytes;
  for (const StepPlan& step : plan.steps) {
    bytes = std::max(bytes, step.baseline.Total() + plan.arena_bytes);
  }
  return bytes;
}

}  // namespace frugal
