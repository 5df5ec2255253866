#pragma once

#include <string>

#include "builders/budget/budget_settings.h"
#include "builders/budget/footprint.h"
#include "sdk/plan/chain_planner.h"

namespace frugal {

// A way to train, and what a dry run of it takes.
struct BudgetCandidate {
  BudgetSettings settings;
  ChainChoice chain;  // segments of the network's leaves; nothing where the fields make them
  Footprint footprint;
  double seconds = 0;  // predicted, of forward and backward passes of a step
};

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

  const FreeKnobs& free() const { return free_; }

 private:
  BudgetSettings Frugal() const;
  std::vector<BudgetSettings> RoundingSettings() const;
  BudgetSettings WithEvaluationThatFits(BudgetSettings settings);

  bool Fits(const BudgetCandidate& candidate) const {
    return candidate.footprint.bytes <= budget_bytes_;
  }
  // With these settings: what takes the least, and the fastest of what fits.
  BudgetCandidate LeastOf(const BudgetSettings& settings, std::int64_t place_up_to);
  std::optional<BudgetCandidate> FastestOf(const BudgetSettings& settings);
  std::optional<BudgetCandidate> FastestFixed(BudgetSettings settings);
  std::optional<BudgetCandidate> FastestChain(const BudgetSettings& settings);
  ChainPlanner PlannerFor(const BudgetSettings& settings, bool measure);
  // Plans a candidate; whole only where its peak is within `place_up_to`.
  BudgetCandidate Try(const BudgetSettings& settings, const ChainChoice& chain,
                      std::int64_t place_up_to);
  BudgetCandidate Try(const BudgetSettings& settings, const ChainChoice& chain) {
    return Try(settings, chain, budget_bytes_);
  }
  // Each takes what fits and is faster than `best`.
  void TakeFaster(const BudgetSettings& settings, const ChainChoice& choice, BudgetCandidate& best,
                  bool& fits);
  void TryKnown(const BudgetSettings& settings, const ChainPlanner& planner, std::int64_t limit,
                BudgetCandidate& best);
  // Returns the largest limit whose schedule fits, or the least.
  std::int64_t ScanUp(const BudgetSettings& settings, ChainPlanner& planner, std::int64_t least,
                      BudgetCandidate& best);
  void SetUnconstrainedTime(const ChainChoice& keep_all, const BudgetSettings& settings);
  void Force(const BudgetSettings& settings);

  Blueprint& blueprint_;
  RunConfig stated_;
  std::int64_t budget_bytes_;
  FreeKnobs free_;
  FootprintMeter meter_;
  BudgetCandidate unconstrained_;
};

}  // namespace frugal
