#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "builders/budget/budget_search.h"
#include "presets/memory_fields.h"
#include "sdk/core/byte_size.h"
#include "sdk/plan/budget_curve.h"

namespace frugal {

// Stands for all that forward passes keep, however much that is.
inline constexpr std::int64_t kAllActivations = kMostMegabytes * kBytesPerMegabyte;

// Holds what a search within a budget came to, with what lies in the page file.
struct PagedSearch {
  StepSettings stated{};  // with the choice of what lies there
  std::shared_ptr<BudgetSearch> search;
  std::optional<BudgetCandidate> chosen;
  double page_seconds = 0;               // of a step, at the disk's measured rate
  std::int64_t unconstrained_bytes = 0;  // with nothing chosen, under the first choice
};

// Says what lies in a page file under these settings.
PagedParts PagedPartsOf(const StepSettings& settings);

// Settings that differ in what kinds of bytes lie in the page file, all or none of each, the least
// first; those of the configuration alone where there is none, or it says what lies there.
std::vector<StepSettings> PagingChoices(const TrainingSetup& setup);

// Searches the fastest way that fits the budget under each of these choices, and with less of what
// forward passes keep in the file than all of it, where that is enough. Where nothing fits, returns
// the search of the choice that can do with the least; of a network of many layers, where that
// takes long, of the last one.
PagedSearch FastestPaged(const TrainingSetup& setup, std::int64_t budget_bytes);

}  // namespace frugal
