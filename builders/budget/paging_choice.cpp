#include "builders/budget/paging_choice.h"

#include <algorithm>

#include "builders/budget/paging_time.h"
#include "builders/setup/paging.h"
#include "builders/setup/step_settings.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

constexpr std::int64_t kLeastBufferMegabytes = 2;

bool IsFree(const RunConfig& config, const std::string& key) {
  const Origin& origin = config.origins.Of("memory." + key);
  return origin.kind <= OriginKind::kPlanner && !origin.IsExplicit();
}

bool LeavesPagingFree(const RunConfig& config) {
  return config.memory.memory_page_file && IsFree(config, "memory_page_kinds") &&
         IsFree(config, "memory_page_activations_mb");
}

// Returns the memory between that a budget of so many bytes has: of a small one an eighth, with
// which a disk is waited for little longer than with more.
std::int64_t BufferWithin(const RunConfig& config, std::int64_t budget_bytes) {
  const std::int64_t stated = PageBufferBytesOf(config.memory);
  if (!IsFree(config, "memory_page_buffer_mb")) return stated;
  const std::int64_t megabytes =
      std::max(kLeastBufferMegabytes, budget_bytes / kBytesPerMegabyte / 8);
  return std::min(stated, megabytes * kBytesPerMegabyte);
}

}  // namespace

PagedParts PagedPartsOf(const StepSettings& settings) {
  const std::int64_t most = settings.paged_activation_bytes;
  return {settings.paged, most > 0, most == kAllActivations ? 0 : most};
}

std::vector<StepSettings> PagingChoices(const TrainingSetup& setup) {
  const StepSettings stated = SettingsOf(setup.config);
  if (!LeavesPagingFree(setup.config)) return {stated};
  std::vector<StepSettings> choices;
  const auto add = [&](PagedKinds kinds, std::int64_t activation_bytes) {
    choices.push_back(stated);
    choices.back().paged = kinds;
    choices.back().paged_activation_bytes = activation_bytes;
  };
  add(PagedKinds::kNone, 0);
  add(PagedKinds::kNone, kAllActivations);
  add(PagedKinds::kOptimizerState, 0);
  add(PagedKinds::kOptimizerState, kAllActivations);
  add(PagedKinds::kWeights, 0);
  add(PagedKinds::kWeights, kAllActivations);
  return choices;
}

namespace {

// The choice that can do with the least; of a network of many layers, where that takes long, the
// last one.
PagedSearch Frugalest(std::vector<PagedSearch> refused) {
  if (refused.back().search->IsDeep()) return std::move(refused.back());
  std::vector<std::int64_t> least;
  least.reserve(refused.size());
  for (const PagedSearch& one : refused) least.push_back(one.search->LeastPeak());
  return std::move(
      refused[static_cast<std::size_t>(std::ranges::min_element(least) - least.begin())]);
}

std::int64_t MegabytesUp(std::int64_t bytes) {
  return (bytes + kBytesPerMegabyte - 1) / kBytesPerMegabyte;
}

// Tries what may lie in the page file, and keeps the fastest way that fits. Ways that change no bit
// come first under all choices: only where none of these fits are sums taken in another order.
class PagingSearch {
 public:
  PagingSearch(const TrainingSetup& setup, std::int64_t budget_bytes)
      : setup_(setup), budget_bytes_(budget_bytes) {}

  PagedSearch Fastest() {
    const std::vector<StepSettings> choices = PagingChoices(setup_);
    std::vector<PagedSearch> searches;
    searches.reserve(choices.size());
    for (const StepSettings& choice : choices) {
      searches.push_back(SearchOf(WithBuffer(choice, budget_bytes_)));
      const PagedSearch& one = searches.back();
      if (!MayBeFastest(one) && choice.paged_activation_bytes == 0) continue;
      const bool fits = Take(one, one.search->FastestExact());
      const bool may_page_less = choices.size() > 1 && choice.paged_activation_bytes > 0;
      if (fits && may_page_less) TryLess(one);
    }
    if (best_.chosen) return std::move(best_);
    for (const PagedSearch& one : searches) Take(one, one.search->FastestRounded());
    return best_.chosen ? std::move(best_) : LeastOf(Frugalest(std::move(searches)));
  }

 private:
  PagedSearch SearchOf(const StepSettings& choice) {
    PagedSearch one;
    one.stated = choice;
    one.search = std::make_shared<BudgetSearch>(setup_, budget_bytes_, choice, measured_);
    if (!with_none_) with_none_ = one.search->unconstrained();
    one.unconstrained_bytes = with_none_->footprint.bytes;
    return one;
  }

  StepSettings WithBuffer(StepSettings settings, std::int64_t budget_bytes) const {
    if (settings.pages()) settings.page_buffer_bytes = BufferWithin(setup_.config, budget_bytes);
    return settings;
  }

  // Returns the search with the memory between that the least budget in which it fits would have,
  // so that this budget is what is told.
  PagedSearch LeastOf(PagedSearch refused) const {
    const std::int64_t buffer = refused.stated.page_buffer_bytes;
    const bool grows = refused.stated.pages() && !refused.search->IsDeep() &&
                       buffer < BufferWithin(setup_.config, kAllActivations);
    if (!grows) return refused;
    const std::int64_t beside = refused.search->Least().footprint.bytes - buffer;
    std::int64_t budget = MegabytesUp(beside) * kBytesPerMegabyte;
    while (beside + BufferWithin(setup_.config, budget) > budget) budget += kBytesPerMegabyte;
    refused.stated = WithBuffer(refused.stated, budget);
    refused.search =
        std::make_shared<BudgetSearch>(setup_, budget_bytes_, refused.stated, measured_);
    return refused;
  }

  // Returns true where something fits.
  bool Take(PagedSearch one, std::optional<BudgetCandidate> found) {
    if (!found) return false;
    one.chosen = std::move(found);
    one.page_seconds = PageSeconds(setup_, one.chosen->footprint.paged);
    const double seconds = SecondsOf(one);
    if (!best_.chosen || seconds < best_seconds_) {
      best_ = std::move(one);
      best_seconds_ = seconds;
    }
    return true;
  }

  // Seconds may be the model's in one search and measured in the other: how much longer than
  // nothing chosen a candidate takes is not.
  double SecondsOf(const PagedSearch& one) const {
    const double alone = one.search->unconstrained().seconds;
    const double longer = alone > 0 ? one.chosen->seconds / alone : 1;
    return SecondsWithPaging(setup_, *one.chosen,
                             PassSeconds::Of(longer * with_none_->seconds, with_none_->seconds));
  }

  // Returns true where it may be faster than the best so far: what runs again only comes to what
  // the passes and the file take where nothing does.
  bool MayBeFastest(const PagedSearch& one) const {
    return !best_.chosen || SecondsWithPaging(setup_, one.search->unconstrained(),
                                              PassSeconds::Of(with_none_->seconds,
                                                              with_none_->seconds)) < best_seconds_;
  }

  // Tries less of what forward passes keep than all of it: the least with which nothing need run
  // again, and quarters, beside which segments do. Of many layers each of these takes long.
  void TryLess(const PagedSearch& all) {
    BudgetSearch& search = *all.search;
    if (best_seconds_ <= with_none_->seconds) return;
    const std::int64_t bytes = search.unconstrained().footprint.paged_activation_bytes;
    const std::int64_t megabytes = MegabytesUp(bytes);
    if (const auto least = LeastToKeepAll(search, megabytes)) TryPaging(all.stated, *least);
    if (search.IsDeep()) return;
    for (const int quarter : {1, 2, 3}) TryPaging(all.stated, megabytes * quarter / 4);
  }

  void TryPaging(StepSettings choice, std::int64_t megabytes) {
    choice.paged_activation_bytes = megabytes * kBytesPerMegabyte;
    if (megabytes == 0) return;
    const PagedSearch one = SearchOf(choice);
    Take(one, one.search->FastestExact());
  }

  // Returns the fewest megabytes in the file, in 64ths of all, with which nothing need run again.
  static std::optional<std::int64_t> LeastToKeepAll(BudgetSearch& search, std::int64_t megabytes) {
    constexpr std::int64_t kParts = 64;
    if (megabytes == 0) return std::nullopt;
    const std::int64_t unit = (megabytes + kParts - 1) / kParts;
    const auto fits = [&](std::int64_t units) {
      return search.FitsWithPaged(units * unit * kBytesPerMegabyte);
    };
    std::int64_t too_few = 0, enough = (megabytes + unit - 1) / unit;
    if (!fits(enough)) return std::nullopt;
    while (enough - too_few > 1) {
      const std::int64_t units = (too_few + enough) / 2;
      (fits(units) ? enough : too_few) = units;
    }
    return enough * unit;
  }

  const TrainingSetup& setup_;
  std::int64_t budget_bytes_;
  std::shared_ptr<MeasuredCosts> measured_ = std::make_shared<MeasuredCosts>();
  PagedSearch best_;
  double best_seconds_ = 0;
  std::optional<BudgetCandidate> with_none_;  // of the first choice, with nothing chosen
};

}  // namespace

PagedSearch FastestPaged(const TrainingSetup& setup, std::int64_t budget_bytes) {
  return PagingSearch(setup, budget_bytes).Fastest();
}

}  // namespace frugal
