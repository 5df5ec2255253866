#include "builders/plan/machine_memory.h"

#include <algorithm>
#include <optional>
#include <string>

#include "builders/budget/budget_limit.h"
#include "builders/budget/budget_refusal.h"
#include "builders/budget/budget_search.h"
#include "builders/plan/one_device_planner.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

// "22,900 MB free of the 24,106 MB of physical memory", rounded down.
std::string FreeText(const SystemMemory& machine) {
  return FormatCount(*machine.available_bytes / kBytesPerMegabyte) + " MB are free now of the " +
         FormatCount(machine.LimitBytes() / kBytesPerMegabyte) + " MB of " +
         std::string(NameOf(machine.LimitKind()));
}

// The purpose that holds most at the peak, in words; a smaller batch is no cure for all of them.
std::string LargestPart(const Plan& plan) {
  const MemoryTag largest = *std::ranges::max_element(
      kAllMemoryTags, {}, [&](MemoryTag tag) { return plan.at_peak[tag]; });
  std::string text =
      FormatBytes(plan.at_peak[largest]) + " of them for " + std::string(NameOf(largest));
  if (largest == MemoryTag::kData) text += " (data.train_limit and data.test_limit use less of it)";
  return text;
}

// The configuration with a budget of what is free.
RunConfig WithinFree(const PlannedTraining& planned, std::int64_t megabytes) {
  RunConfig config = planned.config;
  config.memory.memory_budget_mb = MemoryBudget{.megabytes = megabytes};
  return config;
}

// Says what would make it fit, which it finds by planning that.
std::string Cure(const PlannedTraining& planned, const SystemMemory& machine) {
  if (planned.plan.devices) {
    return "use gradient checkpointing, a smaller batch, or fewer replicas (data_parallel)";
  }
  const DataLayout* own_data = planned.dataset ? nullptr : &planned.layout;
  // The plan leaves out what the process takes beside its tensors.
  const std::int64_t megabytes =
      (*machine.available_bytes - *machine.available_bytes / 32) / kBytesPerMegabyte - 64;
  if (megabytes <= 0) return "free some memory";
  const RunConfig config = WithinFree(planned, megabytes);
  const TrainingSetup trial = PrepareTraining(config, own_data);
  const BudgetLimit limit = {megabytes * kBytesPerMegabyte, {.source = BudgetSource::kFree}};
  BudgetSearch search(trial, limit.bytes);
  const std::optional<BudgetCandidate> chosen = search.Fastest();
  if (!chosen) return NothingFitsText(config, own_data, limit, search);
  const double before = search.unconstrained().seconds;
  std::string text = "memory_budget_mb = " + std::to_string(megabytes) + " makes a plan that fits";
  if (before > 0 && chosen->seconds > 0) {
    text += ", predicted to take " + FixedText(chosen->seconds / before, 2) + " times as long";
  }
  return text;
}

}  // namespace

bool FitsMachine(const PlannedTraining& planned, const SystemMemory& machine) {
  return !machine.available_bytes || NeededBytes(planned) <= *machine.available_bytes;
}

void RequireMachineMemory(const PlannedTraining& planned, const SystemMemory& machine) {
  if (FitsMachine(planned, machine)) return;
  throw MemoryError({.where = "memory",
                     .required = "a training fits the memory that there is",
                     .given = "this one takes " + WholeMegabytes(NeededBytes(planned)) + ", " +
                              LargestPart(planned.plan) + ", and " + FreeText(machine) +
                              (planned.plan.devices ? "" : "; " + PeakKindsText(planned, 4)),
                     .advice = Cure(planned, machine) + "; to go on all the same: --force, "
                                                        "AiModelBuilder::AllowOvercommit()"});
}

}  // namespace frugal
