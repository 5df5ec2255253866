#include "builders/report/text/budget_text.h"

#include "builders/budget/budget_limit.h"
#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {

std::string BudgetSummary(const BudgetPlan& budget) {
  std::string text = WholeMegabytes(budget.budget_bytes) + " (" + budget.source +
                     "): " + WholeMegabytes(budget.planned_bytes) +
                     " planned, gaps of the layout included, " +
                     WholeMegabytes(budget.unconstrained_bytes) + " with nothing chosen";
  if (budget.predicted_slowdown <= 1) return text;
  return text + "; predicted time of passes " + FixedText(budget.predicted_slowdown, 2) + " times";
}

std::vector<std::string> SideBySidePhrases(const StepPlan& step, std::size_t count) {
  std::vector<std::string> phrases;
  for (const SimultaneousBuffers& one : step.side_by_side) {
    if (phrases.size() == count) break;
    phrases.push_back(std::string(NameOf(one.tag)) + " of " + Printable(one.label) + ": " +
                      std::to_string(one.count) + " x " + FormatBytes(one.bytes));
  }
  return phrases;
}

}  // namespace frugal
