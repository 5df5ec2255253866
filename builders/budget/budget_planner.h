#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "builders/setup/training_setup.h"
#include "sdk/plan/plan.h"

namespace frugal {

// Holds what was chosen so that a training stays within its budget.
struct BudgetChoice {
  StepSettings settings;
  // Holds segments of the network's leaves; nothing where fields of the configuration make them.
  std::optional<CheckpointSegments> segments;
  std::vector<std::int64_t> final_after;  // as in Trial
  BudgetPlan plan;
};

// Returns a choice where the configuration has a memory budget, else nothing. Throws MemoryError
// where nothing fits.
std::optional<BudgetChoice> ChooseWithinBudget(const TrainingSetup& setup);

}  // namespace frugal
