#include "builders/budget/paging_choice.h"

#include <algorithm>

#include "builders/setup/step_settings.h"
#include "presets/memory_fields.h"
#include "sdk/core/byte_size.h"
#include "sdk/io/paging/page_rate.h"

namespace frugal {
namespace {

bool LeavesPagingFree(const RunConfig& config) {
  const auto is_free = [&](const char* key) {
    const Origin& origin = config.origins.Of(key);
    return origin.kind <= OriginKind::kPlanner && !origin.IsExplicit();
  };
  return config.memory.memory_page_file && is_free("memory.memory_page_kinds") &&
         is_free("memory.memory_page_activations_mb");
}

}  // namespace

std::vector<StepSettings> PagingChoices(const TrainingSetup& setup) {
  const StepSettings stated = SettingsOf(setup.config);
  if (!LeavesPagingFree(setup.config)) return {stated};
  constexpr std::int64_t kAll = kMostMegabytes * kBytesPerMegabyte;
  std::vector<StepSettings> choices;
  const auto add = [&](PagedKinds kinds, std::int64_t activation_bytes) {
    choices.push_back(stated);
    choices.back().paged = kinds;
    choices.back().paged_activation_bytes = activation_bytes;
  };
  add(PagedKinds::kNone, 0);
  add(PagedKinds::kNone, kAll);
  add(PagedKinds::kOptimizerState, 0);
  add(PagedKinds::kWeights, 0);
  add(PagedKinds::kWeights, kAll);
  return choices;
}

double PageSeconds(const TrainingSetup& setup, const PagingTraffic& traffic) {
  if (traffic == PagingTraffic()) return 0;
  const PageRate rate = PageRateAt(*setup.config.memory.memory_page_file);
  return static_cast<double>(traffic.in_bytes) / rate.read +
         static_cast<double>(traffic.out_bytes) / rate.write;
}

namespace {

// Returns true where `one` can do with less than `other`.
bool CanDoWithLess(PagedSearch& one, PagedSearch& other) {
  if (one.search->IsDeep()) return true;
  return one.search->Least().footprint.bytes < other.search->Least().footprint.bytes;
}

}  // namespace

PagedSearch FastestPaged(const TrainingSetup& setup, std::int64_t budget_bytes) {
  PagedSearch best;
  double best_seconds = 0;
  std::optional<std::int64_t> unconstrained_bytes;
  double unconstrained_seconds = 0;  // of the first choice
  for (const StepSettings& choice : PagingChoices(setup)) {
    PagedSearch one;
    one.stated = choice;
    one.search = std::make_unique<BudgetSearch>(setup, budget_bytes, choice);
    one.chosen = one.search->Fastest();
    const BudgetCandidate& unconstrained = one.search->unconstrained();
    if (!unconstrained_bytes) {
      unconstrained_bytes = unconstrained.footprint.bytes;
      unconstrained_seconds = unconstrained.seconds;
    }
    one.unconstrained_bytes = *unconstrained_bytes;
    if (!one.chosen) {
      if (best.chosen) continue;
      if (!best.search || CanDoWithLess(one, best)) best = std::move(one);
      continue;
    }
    one.page_seconds = PageSeconds(setup, one.chosen->footprint.paged);
    // Seconds may be the model's in one search and measured in the other: how much longer than
    // nothing chosen a candidate takes is not.
    const double longer =
        unconstrained.seconds > 0 ? one.chosen->seconds / unconstrained.seconds : 1;
    const double seconds = std::max(longer * unconstrained_seconds, one.page_seconds);
    if (best.chosen && seconds >= best_seconds) continue;
    best = std::move(one);
    best_seconds = seconds;
  }
  return best;
}

}  // namespace frugal
