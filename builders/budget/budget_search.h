#pragma once

#include <map>

#include "builders/budget/budget_candidate.h"
#include "builders/budget/stage_bytes.h"
#include "sdk/core/slow_work.h"

namespace frugal {

// Searches for the fastest way that fits a budget. Every candidate is planned whole; knobs that
// change no bit come first, and only where they do not do are sums taken in another order.
class BudgetSearch {
 public:
  BudgetSearch(Blueprint& blueprint, std::int64_t budget_bytes);

  // As stated, with nothing recomputed that need not be.
  const BudgetCandidate& unconstrained() const { return unconstrained_; }
  // The candidate of the least footprint, over all knobs.
  BudgetCandidate Least();
  // The fastest that fits; nothing where none does.
  std::optional<BudgetCandidate> Fastest();
  // Beside an exact one that is much slower than with nothing chosen: what would be faster, but
  // takes sums in another order. Nothing where there is none, or times are measured.
  std::optional<BudgetCandidate> FasterRounded(const BudgetCandidate& exact);

  const FreeKnobs& free() const { return free_; }

 private:
  BudgetSettings Frugal() const;
  std::vector<std::int64_t> ChunkRowsFor(std::int64_t accumulate) const;
  std::vector<BudgetSettings> RoundingSettings() const;
  BudgetSettings WithEvaluationThatFits(BudgetSettings settings);

  bool Fits(const BudgetCandidate& candidate) const {
    return candidate.footprint.bytes <= budget_bytes_;
  }
  // With these settings: what takes the least, and the fastest of what fits.
  BudgetCandidate LeastOf(const BudgetSettings& settings, std::int64_t place_up_to);
  bool IsHopeless(BudgetSettings settings);
  // Those of the settings that may take the least, by their peaks, the least first.
  const std::vector<BudgetCandidate>& SmallOnes(const BudgetSettings& settings);
  std::optional<BudgetCandidate> FastestOf(const BudgetSettings& settings);
  std::optional<BudgetCandidate> FastestRounded();
  bool Rounds(const BudgetCandidate& candidate) const;
  std::optional<BudgetCandidate> FastestFixed(BudgetSettings settings);
  std::optional<BudgetCandidate> FastestChain(const BudgetSettings& settings);
  void TakeTimes(BudgetSettings settings, std::vector<Stage>& stages);
  ChainPlanner PlannerFor(const BudgetSettings& settings, bool measure);
  // Plans a candidate; with the layout only where its peak is within `place_up_to`. Of a batch in
  // many parts, a few are planned.
  BudgetCandidate Try(const BudgetSettings& settings, const ChainChoice& chain,
                      std::int64_t place_up_to);
  BudgetCandidate Try(const BudgetSettings& settings, const ChainChoice& chain) {
    return Try(settings, chain, budget_bytes_);
  }
  Footprint Measure(const BudgetSettings& settings, const ChainChoice& chain,
                    std::span<const PlannedStep> steps, std::int64_t place_up_to);
  // Of as few parts of a batch as tell what many take.
  Footprint MeasureTellingParts(const BudgetSettings& settings, const ChainChoice& chain,
                                std::int64_t place_up_to);
  BudgetCandidate Whole(BudgetCandidate candidate, std::int64_t place_up_to);
  void SetUnconstrainedTime(const ChainChoice& keep_all, const BudgetSettings& settings);
  void Force(const BudgetSettings& settings);
  const std::vector<int>& Contributions();  // with what is in force; segments do not matter to them

  // Whether the optimizer runs in backward, a batch, its parts, rows of a chunk of the loss.
  using ContributionsKey =
      std::tuple<bool, std::int64_t, std::int64_t, std::optional<std::int64_t>>;

  Blueprint& blueprint_;
  RunConfig stated_;
  std::int64_t budget_bytes_;
  FreeKnobs free_;
  FootprintMeter meter_;
  std::map<ContributionsKey, std::vector<int>> contributions_;
  std::map<BudgetSettings, std::vector<BudgetCandidate>> small_;  // see SmallOnes
  BudgetCandidate unconstrained_;
  SlowWork progress_;
  int tried_ = 0;  // candidates
};

}  // namespace frugal
