#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace frugal {

enum class ScheduleKind : std::uint8_t {
  kConstant,
  kCosine,  // warm-up, then half a cosine down to final_fraction (arXiv:1608.03983, no restarts)
  kStep,    // times step_factor every step_every steps
};
std::string_view NameOf(ScheduleKind kind);  // "constant", "cosine", "step"

// A schedule of a program's own: the factor of the base rate in step `step` (from 0) of so many.
using ScheduleFunction = std::function<double(std::int64_t step, std::int64_t total_steps)>;

// How the learning rate moves. All kinds warm up linearly over the first warmup_steps steps:
// step s (from 0) takes (s + 1) / warmup_steps of the rate.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::kConstant;
  std::int64_t warmup_steps = 0;
  double final_fraction = 0;       // cosine: what is left of the rate in the last step
  std::int64_t step_every = 1000;  // step: steps between two drops
  double step_factor = 0.1;
  ScheduleFunction function{};  // where there is one, nothing else counts
};

// Returns the factor of the base rate in step `step` (from 0) of `total_steps`.
double ScheduleFactor(const ScheduleOptions& schedule, std::int64_t step, std::int64_t total_steps);

}  // namespace frugal
