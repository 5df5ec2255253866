#pragma once

#include "builders/budget/budget_search.h"

namespace frugal {

// Says what a candidate chose that the configuration does not say, and why, one sentence for each.
std::vector<std::string> ChoicesOf(const TrainingSetup& setup, const BudgetCandidate& chosen,
                                   const BudgetCandidate& unconstrained);

// Says what BudgetSearch::FasterRounded found, and why it was not chosen.
std::string FasterText(const TrainingSetup& setup, const BudgetCandidate& faster,
                       const BudgetCandidate& unconstrained);

}  // namespace frugal
