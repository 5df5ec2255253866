#pragma once

#include <map>

#include "builders/budget/candidate_planner.h"

namespace frugal {

// Searches for the fastest way that fits a budget. Every candidate is planned whole; knobs that
// change no bit come first, and only where they do not do are sums taken in another order.
class BudgetSearch {
 public:
  BudgetSearch(const TrainingSetup& setup, std::int64_t budget_bytes);
  // Takes `stated` in place of what the configuration has, and what was measured so far.
  BudgetSearch(const TrainingSetup& setup, std::int64_t budget_bytes, const StepSettings& stated,
               std::shared_ptr<MeasuredCosts> measured = nullptr);

  // Returns the candidate as stated, with nothing recomputed that need not be.
  const BudgetCandidate& unconstrained();
  // The candidate of the least footprint, over all knobs.
  const BudgetCandidate& Least();
  // Returns the largest live bytes of the least, without a layout.
  std::int64_t LeastPeak() { return LeastByPeak().footprint.peak_bytes; }
  // Plans what is least in another search of the same layers under what is stated here, for
  // networks of many layers, where a search takes long. Returns nothing where there are few, or
  // `other` has no schedule.
  std::optional<BudgetCandidate> LeastLike(const BudgetCandidate& other);
  // Returns true where nothing need run again, with at most so much of what a part's forward pass
  // keeps in the page file.
  bool FitsWithPaged(std::int64_t activation_bytes);
  // Returns the fastest that fits, of those that change no bit where one of them does; nothing
  // where none does.
  std::optional<BudgetCandidate> Fastest();
  // Returns the fastest that fits of those that change no bit; nothing where none does.
  std::optional<BudgetCandidate> FastestExact();
  // Returns the fastest that fits of those that take sums in another order.
  std::optional<BudgetCandidate> FastestRounded();
  // Returns what would be faster than an exact candidate that is much slower than with nothing
  // chosen, but takes sums in another order. Returns nothing where there is none, or times are
  // measured.
  std::optional<BudgetCandidate> FasterRounded(const BudgetCandidate& exact);

  // Returns how often each parameter's gradient is added to in a step (Trial::final_after).
  std::vector<std::int64_t> FinalAfter(const StepSettings& settings) {
    return planner_.TrialOf(settings).final_after;
  }
  // Returns the seconds that a step of a candidate takes by measured costs; nothing where costs are
  // the model's, fields make the segments, or there is no memory to measure in.
  std::optional<double> MeasuredSeconds(const BudgetCandidate& candidate) {
    if (costs_ == PlannerCosts::kModel || free_.segments != FreeKnobs::Segments::kAny) return {};
    return planner_.MeasuredSeconds(candidate, budget_bytes_);
  }

  // Holds bounds on the seconds of forward and backward passes, by the bytes and times of the
  // network's chain.
  struct LeastSeconds {
    double as_low = 0;  // no segments that peak as low as the candidate's take less
    // No segments within the budget take less. What lives beside the chain is counted as in the
    // candidate or in what keeps all, where it is less.
    double within_budget = 0;
  };
  // Returns bounds for the candidate's settings; nothing where it runs nothing again, or fields
  // make its segments.
  std::optional<LeastSeconds> BoundsOf(const BudgetCandidate& chosen);

  // Returns a bound on the peak of any segments with the candidate's settings, by the bytes of the
  // network's chain, with what lives beside it counted as for BoundsOf. Returns nothing where
  // fields make the segments, or layers are many.
  std::optional<std::int64_t> LeastPeakOfAny(const BudgetCandidate& least);

  // Returns what lives outside steps with the knobs that change no bit, whatever the segments.
  const BytesByTag& OutsideSteps() { return Floor().outside; }

  // See HasManyLayers.
  bool IsDeep() const;

  const FreeKnobs& free() const { return free_; }

 private:
  StepSettings ExactSettings() const;
  std::vector<std::int64_t> ChunkRowsFor(std::int64_t micro_batches) const;
  std::vector<StepSettings> RoundingSettings() const;
  StepSettings WithEvaluationThatFits(StepSettings settings);

  bool Fits(const BudgetCandidate& candidate) const {
    return candidate.footprint.bytes <= budget_bytes_;
  }
  // Returns what takes the least with these settings; FastestOf returns the fastest of what fits.
  BudgetCandidate SmallestOf(const StepSettings& settings, std::int64_t place_up_to);
  bool CannotFit(StepSettings settings);
  std::int64_t LowerBound(const StepSettings& settings);
  // Those of the settings that may take the least, by their peaks, the least first.
  const std::vector<BudgetCandidate>& CandidatesByPeak(const StepSettings& settings);
  // Laid out, whatever that takes.
  BudgetCandidate Placed(const StepSettings& settings, const ChainChoice& chain);
  // Schedules among which is the one of the least peak.
  std::vector<ChainChoice> SmallChains(const StepSettings& settings);
  std::optional<BudgetCandidate> FastestOf(const StepSettings& settings);
  bool Rounds(const BudgetCandidate& candidate) const;
  std::optional<BudgetCandidate> FastestFixed(StepSettings settings);
  std::optional<BudgetCandidate> FastestChain(const StepSettings& settings);
  // Returns what lives beside the chain at the candidate's peak, or at that of keeping all where it
  // is less.
  std::int64_t LeastBeside(const BudgetCandidate& chosen, const ChainPlanner& chain);
  std::shared_ptr<ChainPlanner> ChainFor(const StepSettings& settings);
  // Plans as the planner does, laid out where it may fit.
  BudgetCandidate Plan(const StepSettings& settings, const ChainChoice& chain) {
    return planner_.Plan(settings, chain, budget_bytes_);
  }
  // Finds the least once, planned as far as its peak.
  const BudgetCandidate& LeastByPeak();
  void SetUnconstrainedTime(const ChainChoice& keep_all, const StepSettings& settings);

  const TrainingSetup& setup_;
  PlannerCosts costs_;
  std::int64_t budget_bytes_;
  FreeKnobs free_;
  StepSettings stated_;
  CandidatePlanner planner_;
  std::map<StepSettings, std::vector<BudgetCandidate>> small_;  // see CandidatesByPeak
  // Planned when they are first asked for.
  std::optional<BudgetCandidate> unconstrained_, least_, least_by_peak_;
  // See LowerBound: outside steps, and what parts of a batch hold beside it.
  struct LeastBytes {
    BytesByTag outside;
    std::int64_t gradient_bytes = 0;
  };
  const LeastBytes& Floor();
  std::optional<LeastBytes> floor_;
};

}  // namespace frugal
