#include "sdk/optim/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace frugal {

std::string_view NameOf(ScheduleKind kind) {
  constexpr auto names = std::to_array<std::string_view>({"constant", "cosine", "step"});
  static_assert(names.size() == static_cast<std::size_t>(ScheduleKind::kStep) + 1);
  return names[static_cast<std::size_t>(kind)];
}

double ScheduleFactor(const ScheduleOptions& schedule, std::int64_t step,
                      std::int64_t total_steps) {
  if (schedule.function) return schedule.function(step, total_steps);
  if (step < schedule.warmup_steps) {
    return static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
  }
  const std::int64_t since = step - schedule.warmup_steps;
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      break;
    case ScheduleKind::kStep:
      return std::pow(schedule.step_factor,
                      static_cast<double>(since / std::max<std::int64_t>(1, schedule.step_every)));
    case ScheduleKind::kCosine: {
      const auto length =
          static_cast<double>(std::max<std::int64_t>(1, total_steps - 1 - schedule.warmup_steps));
      const double done = std::min(1.0, static_cast<double>(since) / length);
      const double falling = 0.5 * (1 + std::cos(std::numbers::pi * done));
      return schedule.final_fraction + (1 - schedule.final_fraction) * falling;
    }
  }
  return 1;
}

}  // namespace frugal
