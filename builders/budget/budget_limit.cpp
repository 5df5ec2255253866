#include "builders/budget/budget_limit.h"

#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {

namespace {

BudgetLimit Stated(const MemoryBudget& budget, const SystemMemory& system) {
  if (budget.percent <= 0) {
    return {budget.megabytes * kBytesPerMegabyte,
            {.source = BudgetSource::kBudget, .megabytes = budget.megabytes}};
  }
  BudgetOrigin origin{.source = BudgetSource::kShare,
                      .percent = budget.percent,
                      .limit_bytes = system.LimitBytes(),
                      .limit = system.LimitKind()};
  const auto bytes =
      static_cast<std::int64_t>(static_cast<double>(origin.limit_bytes) * budget.percent / 100);
  if (!system.available_bytes || bytes <= *system.available_bytes) return {bytes, origin};
  origin.source = BudgetSource::kFree;
  return {*system.available_bytes, origin};
}

}  // namespace

BudgetLimit ResolveBudget(const TrainingMemoryConfig& memory, const SystemMemory& system) {
  BudgetLimit limit = Stated(*memory.memory_budget_mb, system);
  const auto& device = memory.max_memory_per_device_mb;
  if (!device || *device * kBytesPerMegabyte >= limit.bytes) return limit;
  return {*device * kBytesPerMegabyte,
          {.source = BudgetSource::kDeviceLimit, .megabytes = *device}};
}

std::string FieldOf(const BudgetOrigin& origin) {
  return origin.source == BudgetSource::kDeviceLimit ? "memory.max_memory_per_device_mb"
                                                     : "memory.memory_budget_mb";
}

std::string SourceText(const BudgetOrigin& origin) {
  const std::string share = CompactText(origin.percent, 6) + "% of the " +
                            WholeMegabytes(origin.limit_bytes) + " of " +
                            std::string(NameOf(origin.limit));
  switch (origin.source) {
    case BudgetSource::kDeviceLimit:
      return "max_memory_per_device_mb = " + std::to_string(origin.megabytes);
    case BudgetSource::kShare:
      return share;
    case BudgetSource::kFree:
      return origin.percent > 0 ? "what is free now, less than " + share : "what is free now";
    case BudgetSource::kBudget:
      break;
  }
  return "memory_budget_mb = " + std::to_string(origin.megabytes);
}

std::string WholeMegabytes(std::int64_t bytes) {
  return FormatCount((bytes + kBytesPerMegabyte - 1) / kBytesPerMegabyte) + " MB";
}

}  // namespace frugal
