#pragma once

#include <string>

#include "presets/training_memory_config.h"
#include "sdk/plan/budget_plan.h"

namespace frugal {

// A budget in bytes, and where it comes from.
struct BudgetLimit {
  std::int64_t bytes = 0;
  BudgetOrigin origin;
};

// Returns the budget of a configuration with memory_budget_mb: that, or a smaller
// max_memory_per_device_mb. A share is taken of the least limit that there is for this process, and
// never comes to more than what is free now.
BudgetLimit ResolveBudget(const TrainingMemoryConfig& memory, const SystemMemory& system);

// Returns the key of the field that states it: "memory.memory_budget_mb".
std::string FieldOf(const BudgetOrigin& origin);
// Says it in words: "memory_budget_mb = 3000", "70% of the 24,000 MB of physical memory".
std::string SourceText(const BudgetOrigin& origin);

// "2,614 MB", rounded up.
std::string WholeMegabytes(std::int64_t bytes);

}  // namespace frugal
