#include "builders/budget/budget_limit.h"

#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {

namespace {

BudgetLimit Stated(const MemoryBudget& budget, const SystemMemory& system) {
  const std::string field = "memory.memory_budget_mb";
  if (budget.percent <= 0) {
    return {budget.megabytes * kBytesPerMegabyte,
            "memory_budget_mb = " + std::to_string(budget.megabytes), field};
  }
  const std::int64_t all = system.LimitBytes();
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(all) * budget.percent / 100);
  const std::string share = CompactText(budget.percent, 6) + "% of the " + WholeMegabytes(all) +
                            " of " + system.LimitName();
  if (!system.available_bytes || bytes <= *system.available_bytes) return {bytes, share, field};
  return {*system.available_bytes, "what is free now, less than " + share, field};
}

}  // namespace

BudgetLimit ResolveBudget(const TrainingMemoryConfig& memory, const SystemMemory& system) {
  BudgetLimit limit = Stated(*memory.memory_budget_mb, system);
  const auto& device = memory.max_memory_per_device_mb;
  if (!device || *device * kBytesPerMegabyte >= limit.bytes) return limit;
  return {*device * kBytesPerMegabyte, "max_memory_per_device_mb = " + std::to_string(*device),
          "memory.max_memory_per_device_mb"};
}

std::string WholeMegabytes(std::int64_t bytes) {
  return FormatCount((bytes + kBytesPerMegabyte - 1) / kBytesPerMegabyte) + " MB";
}

}  // namespace frugal
