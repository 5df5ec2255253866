#pragma once

#include <string>

#include "presets/training_memory_config.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// A budget in bytes, and where it comes from.
struct BudgetLimit {
  std::int64_t bytes = 0;
  std::string source;  // in words
  std::string field;   // "memory.memory_budget_mb"
};

// Returns the budget of a configuration with memory_budget_mb: that, or a smaller
// max_memory_per_device_mb. A share is taken of the least limit that there is for this process, and
// never comes to more than what is free now.
BudgetLimit ResolveBudget(const TrainingMemoryConfig& memory, const SystemMemory& system);

// "2,614 MB", rounded up.
std::string WholeMegabytes(std::int64_t bytes);

}  // namespace frugal
