#include "builders/budget/budget_limit.h"

#include "builders/report/number_text.h"
#include "sdk/core/byte_size.h"

namespace frugal {

BudgetLimit ResolveBudget(const MemoryBudget& budget, const SystemMemory& system) {
  if (budget.percent <= 0) {
    return {budget.megabytes * kBytesPerMegabyte,
            "memory_budget_mb = " + std::to_string(budget.megabytes)};
  }
  const std::int64_t all = system.LimitBytes();
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(all) * budget.percent / 100);
  return {bytes,
          CompactText(budget.percent, 6) + "% of the " + WholeMegabytes(all) +
              (system.control_group_bytes > 0 ? " of the control group" : " of physical memory")};
}

std::string WholeMegabytes(std::int64_t bytes) {
  return FormatCount((bytes + kBytesPerMegabyte - 1) / kBytesPerMegabyte) + " MB";
}

}  // namespace frugal
