#pragma once

#include <string>

#include "presets/memory_budget.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// A budget in bytes, and where it comes from in words.
struct BudgetLimit {
  std::int64_t bytes = 0;
  std::string source;
};

BudgetLimit ResolveBudget(const MemoryBudget& budget, const SystemMemory& system);

// "2,614 MB", rounded up.
std::string WholeMegabytes(std::int64_t bytes);

}  // namespace frugal
