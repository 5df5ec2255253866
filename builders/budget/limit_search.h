#pragma once

#include <functional>
#include <map>
#include <optional>

#include "builders/budget/candidate_planner.h"

namespace frugal {

// Searches a chain's schedules for the fastest that fits a budget. The model of the chain is off by
// a few bytes, so every schedule that counts is planned whole, and the limit that the model is
// given is searched for: the largest whose schedule fits. The model says where to begin.
class LimitSearch {
 public:
  using PlanWhole = std::function<BudgetCandidate(const ChainChoice&)>;
  LimitSearch(ChainPlanner& planner, std::int64_t budget_bytes, PlanWhole plan)
      : planner_(planner), budget_bytes_(budget_bytes), plan_(std::move(plan)) {}

  // Returns nothing where none was found.
  std::optional<BudgetCandidate> Fastest();
  // The fastest that is found from one that fits: known ones that are faster, then with fewer and
  // fewer segments.
  BudgetCandidate FasterThan(BudgetCandidate fitting);

 private:
  // Plans the schedule, and keeps it where it fits and is the fastest. Returns whether it fits.
  bool Try(const ChainChoice& choice);
  bool TryLimit(std::int64_t bytes);
  void SearchLimit(std::int64_t guess);
  void ScanUp();
  void TryKnown(int tries);
  void DropSegments();

  ChainPlanner& planner_;
  std::int64_t budget_bytes_;
  PlanWhole plan_;
  std::optional<BudgetCandidate> best_;
  std::int64_t too_much_ = 0;                             // the least limit known not to fit
  std::map<std::pair<std::int64_t, double>, bool> memo_;  // by cost: whether it fits
};

}  // namespace frugal
