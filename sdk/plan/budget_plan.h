#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sdk/memory/system_memory.h"
#include "sdk/plan/step_settings.h"
#include "sdk/tensor/tensor_pager.h"

namespace frugal {

enum class BudgetSource : std::uint8_t {
  kBudget,       // memory_budget_mb in megabytes
  kDeviceLimit,  // max_memory_per_device_mb, which is less
  kShare,        // memory_budget_mb as a share of the memory that there is
  kFree,         // what is free now; where a share is stated, that would be more
};

// Says where a memory budget comes from.
struct BudgetOrigin {
  BudgetSource source = BudgetSource::kBudget;
  std::int64_t megabytes = 0;  // as stated: of kBudget and kDeviceLimit
  double percent = 0;          // as stated, of limit_bytes; 0 where no share is
  std::int64_t limit_bytes = 0;
  MemoryLimitKind limit = MemoryLimitKind::kPhysical;
};

// Counts the stages of a network that keep only their segment's inputs and run again.
struct RecomputedStages {
  std::int64_t stages = 0;
  std::int64_t segments = 0;  // those inside others are not counted
  std::int64_t depth = 0;     // 1: no segment is inside another
  std::string method;         // "optimal", "every 4", ...
  // The share by which forward and backward passes are predicted to take longer; nothing where that
  // cannot be said.
  std::optional<double> more_time{};
  // Bounds are shares of the predicted time, by the planner's model of bytes and times: no segments
  // that peak as low take less, and none within the budget. Nothing where none are known.
  struct Bounds {
    double as_low = 0;
    double within_budget = 0;
  };
  std::optional<Bounds> bounds{};
};

// Holds settings under which a step would be faster, but take sums in another order.
struct RoundedAlternative {
  StepSettings settings;
  double slowdown = 1;  // of a step, beside the one with nothing chosen
};

// Holds what was chosen so that a training stays within a memory budget.
struct BudgetPlan {
  std::int64_t budget_bytes = 0;
  BudgetOrigin origin;
  // The process takes so many bytes for tensors: what lives outside steps, and the arena with its
  // gaps.
  std::int64_t planned_bytes = 0;
  std::int64_t unconstrained_bytes = 0;  // the same with nothing chosen
  // The time of the passes of a step or, where predicted_seconds is there, of a whole step, beside
  // the one with nothing chosen.
  double predicted_slowdown = 1;
  std::optional<double> predicted_seconds{};  // of a step, by measured costs

  StepSettings unconstrained;  // as stated
  StepSettings chosen;
  RecomputedStages recomputed;
  bool has_dropout = false;                    // which draws other masks for other micro-batches
  std::optional<RoundedAlternative> faster{};  // not chosen
  PagingTraffic paged{};                       // of a step
  double page_seconds = 0;                     // that the disk takes for it, at its measured rate
};

}  // namespace frugal
