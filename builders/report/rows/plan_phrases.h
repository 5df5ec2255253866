#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/plan/budget_curve.h"
#include "sdk/plan/plan.h"

namespace frugal {

// "3,000 MB (memory_budget_mb = 3000): 2,996 MB planned, 3,842 MB with nothing chosen, ..."
std::string BudgetSummary(const BudgetPlan& budget);

// "2 stages in 1 segment keep only their inputs and run again", of segments that nest so deep.
std::string RunAgainPhrase(std::int64_t stages, std::int64_t segments, std::int64_t depth);

// "optimizer state, weights and what forward passes keep"; "nothing".
std::string PagedPhrase(const PagedParts& paged);

// Says what was chosen that the configuration does not say, and why, one sentence for each.
std::vector<std::string> ChoicePhrases(const BudgetPlan& budget);

// Says what no segments can do, however they are chosen; nothing where no bounds are known.
std::string BoundPhrase(const BudgetPlan& budget);

// Says what would be faster, and why it was not chosen; nothing where there is nothing.
std::string FasterPhrase(const BudgetPlan& budget);

// "950 MB of 74 tensors lie in a page file (/disk/page) while nothing uses them", "a step reads 950
// MB and writes 950 MB, through 65 MB of memory", and the `count` largest by name; nothing where
// nothing is paged.
std::vector<std::string> PagingPhrases(const Plan& plan, std::size_t count);

// "activation of blocks.3.attn: 2 x 12.0 MB", for the `count` largest at the step's peak.
std::vector<std::string> SideBySidePhrases(const StepPlan& step, std::size_t count);

}  // namespace frugal
