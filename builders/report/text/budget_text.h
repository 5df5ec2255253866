#pragma once

#include <string>
#include <vector>

#include "sdk/plan/plan.h"

namespace frugal {

// "3,000 MB (memory_budget_mb = 3000): 2,996 MB planned, 3,842 MB with nothing chosen, ..."
std::string BudgetSummary(const BudgetPlan& budget);

// "activation of blocks.3.attn: 2 x 12.0 MB", for the `count` largest at the step's peak.
std::vector<std::string> SideBySidePhrases(const StepPlan& step, std::size_t count);

}  // namespace frugal
