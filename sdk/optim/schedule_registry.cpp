#include "sdk/optim/schedule_registry.h"

#include <array>

namespace frugal {
namespace {

// In the order of ScheduleKind.
constexpr auto kDocs = std::to_array<const char*>(
    {"The rate stays, behind the warm-up.", "Half a cosine down to final_fraction.",
     "Times step_factor every step_every steps.", "A line down to final_fraction.",
     "Down to final_fraction as (1 - t)^power falls.",
     "Times step_factor in step_every steps, a little in each.",
     "From start_fraction up to the rate and down to final_fraction (arXiv:1708.07120).",
     "Cosines of restart_every steps, each restart_factor times as long as the last.",
     "Times step_factor behind plateau_patience evaluations that are no better."});
static_assert(kDocs.size() == static_cast<std::size_t>(ScheduleKind::kCount));

std::vector<ScheduleRow> BuiltInRows() {
  std::vector<ScheduleRow> rows;
  for (std::size_t i = 0; i < kDocs.size(); ++i) {
    rows.push_back({.name = std::string(NameOf(static_cast<ScheduleKind>(i))), .doc = kDocs[i]});
  }
  return rows;
}

}  // namespace

Registry<ScheduleRow>& Schedules() {
  static Registry<ScheduleRow> schedules("schedule", BuiltInRows());
  return schedules;
}

}  // namespace frugal
