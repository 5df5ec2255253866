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

double SecondsWithPaging(const TrainingSetup& setup, double passes, const PagingTraffic& traffic) {
  if (traffic == PagingTraffic()) return passes;
  const auto copied = static_cast<double>(traffic.in_bytes + traffic.out_bytes);
  const double copies = copied / PageRateAt(*setup.config.memory.memory_page_file).copy;
  return std::max(passes + copies, PageSeconds(setup, traffic));
}

namespace {

// The choice that can do with the least; of a network of many layers, where that takes long, the
// last one.
PagedSearch Frugalest(std::vector<PagedSearch> refused) {
  if (refused.back().search->IsDeep()) return std::move(refused.back());
  std::vector<std::int64_t> least;
  least.reserve(refused.size());
  for (const PagedSearch& one : refused) least.push_back(one.search->Least().footprint.bytes);
  return std::move(
      refused[static_cast<std::size_t>(std::ranges::min_element(least) - least.begin())]);
}

}  // namespace

PagedSearch FastestPaged(const TrainingSetup& setup, std::int64_t budget_bytes) {
  PagedSearch best;
  double best_seconds = 0;
  std::vector<PagedSearch> refused;
  std::optional<BudgetCandidate> with_none;  // the first choice's with nothing chosen
  for (const StepSettings& choice : PagingChoices(setup)) {
    PagedSearch one;
    one.stated = choice;
    one.search = std::make_unique<BudgetSearch>(setup, budget_bytes, choice);
    one.chosen = one.search->Fastest();
    if (!with_none) with_none = one.search->unconstrained();
    one.unconstrained_bytes = with_none->footprint.bytes;
    if (!one.chosen) {
      refused.push_back(std::move(one));
      continue;
    }
    one.page_seconds = PageSeconds(setup, one.chosen->footprint.paged);
    // Seconds may be the model's in one search and measured in the other: how much longer than
    // nothing chosen a candidate takes is not.
    const double alone = one.search->unconstrained().seconds;
    const double longer = alone > 0 ? one.chosen->seconds / alone : 1;
    const double seconds =
        SecondsWithPaging(setup, longer * with_none->seconds, one.chosen->footprint.paged);
    if (best.chosen && seconds >= best_seconds) continue;
    best = std::move(one);
    best_seconds = seconds;
  }
  return best.chosen ? std::move(best) : Frugalest(std::move(refused));
}

}  // namespace frugal
