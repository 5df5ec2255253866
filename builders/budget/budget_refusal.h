#pragma once

#include <string>
#include <vector>

#include "builders/budget/budget_limit.h"
#include "builders/budget/budget_search.h"

namespace frugal {

// A change of the configuration, and the least that the changed training can do with.
struct BudgetAlternative {
  std::string words;  // "a smaller batch (8 -> 5)", "optimizer_in_backward"
  RunConfig config;
  std::int64_t least_bytes = 0;
};

// Changes that lower the least that a training can do with, each planned by itself: those that
// bring it within the budget, or, where none does, all that help and all of them together. What the
// planner may change by itself is not among them. `custom_layout` as in PlanTraining.
std::vector<BudgetAlternative> AlternativesFor(const RunConfig& stated,
                                               const DataLayout* custom_layout,
                                               std::int64_t budget_bytes,
                                               const BudgetCandidate& least);

// Says why nothing fits, and what would: "cannot train within 2,000 MB: 2,614 MB is the least ...",
// with a bound of what segments can do, what makes up that least, and the alternatives. Where a
// network of many layers holds more than the budget outside of its steps, it says so and no more,
// since each plan of such a network takes long.
std::string NothingFitsText(const RunConfig& stated, const DataLayout* custom_layout,
                            const BudgetLimit& limit, BudgetSearch& search);

}  // namespace frugal
