#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "builders/execute/training_result.h"
#include "sdk/plan/plan.h"

namespace frugal {

// A planned number of bytes beside the measured one.
struct MemoryRow {
  std::string name;
  std::int64_t planned = 0;
  std::int64_t measured = 0;
  bool equal = false;
  std::string mark;  // "=", or the difference: "+1,024", "-8"
};

// Each purpose that takes memory, then all together, then the arena where steps used one. The
// arena is measured in whole pages, so it is equal where it is the planned size rounded up.
std::vector<MemoryRow> MemoryRows(const Plan& plan, const TrainingResult& result);

}  // namespace frugal
