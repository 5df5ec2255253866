#include "sdk/optim/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace frugal {

std::string_view NameOf(ScheduleKind kind) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"constant", "cosine", "step", "linear", "polynomial",
                                       "exponential", "one_cycle", "restarts", "plateau"});
  static_assert(kNames.size() == static_cast<std::size_t>(ScheduleKind::kCount));
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

// From `first` to `last` along half a cosine, as `done` goes from 0 to 1.
double AlongCosine(double first, double last, double done) {
  return last + (first - last) * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

// As PyTorch's OneCycleLR, whose div_factor is 1 / start_fraction.
double OneCycleFactor(const ScheduleOptions& schedule, double since, double steps) {
  const double rise = std::max(0.0, schedule.rise_fraction * steps - 1);
  if (since <= rise && rise > 0) return AlongCosine(schedule.start_fraction, 1, since / rise);
  const double fall = std::max(1.0, steps - 1 - rise);
  return AlongCosine(1, schedule.final_fraction, std::min(1.0, (since - rise) / fall));
}

double RestartsFactor(const ScheduleOptions& schedule, double since) {
  auto length = static_cast<double>(std::max<std::int64_t>(1, schedule.restart_every));
  while (since >= length) {
    since -= length;
    length *= std::max(1.0, schedule.restart_factor);
  }
  return AlongCosine(1, schedule.final_fraction, since / length);
}

}  // namespace

double ScheduleFactor(const ScheduleOptions& schedule, std::int64_t step,
                      std::int64_t total_steps) {
  if (schedule.function) return schedule.function(step, total_steps);
  if (step < schedule.warmup_steps) {
    return static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
  }
  const std::int64_t since = step - schedule.warmup_steps;
  const auto length =
      static_cast<double>(std::max<std::int64_t>(1, total_steps - 1 - schedule.warmup_steps));
  const double done = std::min(1.0, static_cast<double>(since) / length);
  const std::int64_t every = std::max<std::int64_t>(1, schedule.step_every);
  const std::int64_t drops = since / every;
  const double last = schedule.final_fraction;
  switch (schedule.kind) {
    case ScheduleKind::kStep:
      return std::pow(schedule.step_factor, static_cast<double>(drops));
    case ScheduleKind::kCosine:
      return AlongCosine(1, last, done);
    case ScheduleKind::kLinear:
      return last + (1 - last) * (1 - done);
    case ScheduleKind::kPolynomial:
      return last + (1 - last) * std::pow(1 - done, schedule.power);
    case ScheduleKind::kExponential:
      return std::pow(schedule.step_factor,
                      static_cast<double>(since) / static_cast<double>(every));
    case ScheduleKind::kOneCycle:
      return OneCycleFactor(schedule, static_cast<double>(since), length + 1);
    case ScheduleKind::kRestarts:
      return RestartsFactor(schedule, static_cast<double>(since));
    case ScheduleKind::kConstant:
    case ScheduleKind::kPlateau:  // whoever evaluates scales the rate
    case ScheduleKind::kCount:
      break;
  }
  return 1;
}

}  // namespace frugal
