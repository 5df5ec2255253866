#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "builders/budget/candidate_planner.h"

namespace frugal {

// Searches a chain's schedules for the fastest that fits a budget. The model of the chain is off by
// a few bytes, so every schedule that counts is planned whole. A larger budget only adds to those
// that there are, of many stages, and to those that are tried: so a larger budget never takes a
// slower one, and a smaller budget never one of a higher peak.
class FrontierSearch {
 public:
  using PlanWhole = std::function<BudgetCandidate(const ChainChoice&)>;
  FrontierSearch(ChainPlanner& planner, PlanWhole plan)
      : planner_(planner), plan_(std::move(plan)) {}

  // Returns nothing where none fits; `small` are schedules that are tried whatever the model says.
  std::optional<BudgetCandidate> Fastest(std::int64_t budget_bytes, std::vector<ChainChoice> small);

 private:
  // The fastest within limits spread from the least peak to that of keeping all, and known ones: of
  // these, those that take so many bytes at most.
  std::vector<ChainChoice> Frontier(std::int64_t most_bytes);
  // Adds those of one planner, with its costs, within limits up to that.
  static void AddFrontierOf(ChainPlanner& planner, std::int64_t most_bytes,
                            std::vector<ChainChoice>& frontier);

  // Returns the fastest of `best` and of what bounds have as the fastest. The planner's tables
  // count what skips hold too long and miss some schedules; those of bounds count too little of it,
  // so only schedules that the chain has within the limits they are of are planned.
  BudgetCandidate FasterByBounds(BudgetCandidate best, std::int64_t most_bytes,
                                 std::int64_t budget_bytes);

  // The choices are in the order of their times; the model has those fit that take `model_bytes`.
  // Each that is tried tells how far off the model is for the one before it, whatever the budget.
  std::optional<BudgetCandidate> FirstThatFits(const std::vector<ChainChoice>& choices,
                                               std::int64_t model_bytes, std::int64_t budget_bytes);

  ChainPlanner& planner_;
  PlanWhole plan_;
};

}  // namespace frugal
