#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace frugal {

enum class ScheduleKind : std::uint8_t {
  kConstant,
  kCosine,       // half a cosine down to final_fraction (arXiv:1608.03983, no restarts)
  kStep,         // times step_factor every step_every steps
  kLinear,       // down to final_fraction
  kPolynomial,   // the same way, as (1 - t)^power falls
  kExponential,  // times step_factor in step_every steps, a little in each
  kOneCycle,     // from start_fraction up to 1 and down to final_fraction (arXiv:1708.07120)
  kRestarts,     // cosines of restart_every steps, each restart_factor times as long as the last
  kPlateau,      // times step_factor behind plateau_patience evaluations that are no better
  kCount
};
std::string_view NameOf(ScheduleKind kind);  // "constant", "cosine", "one_cycle", ...

// A schedule of a program's own: the factor of the base rate in step `step` (from 0) of so many.
using ScheduleFunction = std::function<double(std::int64_t step, std::int64_t total_steps)>;

// How the learning rate moves. All kinds warm up linearly over the first warmup_steps steps:
// step s (from 0) takes (s + 1) / warmup_steps of the rate.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::kConstant;
  std::int64_t warmup_steps = 0;
  double final_fraction = 0;       // what is left of the rate in the last step
  std::int64_t step_every = 1000;  // steps between two drops
  double step_factor = 0.1;
  double power = 2;                   // of the polynomial
  double rise_fraction = 0.3;         // one cycle: share of the steps in which the rate rises
  double start_fraction = 0.04;       // one cycle: share of the rate in the first step
  std::int64_t restart_every = 1000;  // restarts: steps of the first cosine
  double restart_factor = 1;
  std::int64_t plateau_patience = 2;  // evaluations
  ScheduleFunction function{};        // where there is one, nothing else counts
  std::string name{};                 // of the function, where it is registered
};

// Returns the factor of the base rate in step `step` (from 0) of `total_steps`.
double ScheduleFactor(const ScheduleOptions& schedule, std::int64_t step, std::int64_t total_steps);

}  // namespace frugal
