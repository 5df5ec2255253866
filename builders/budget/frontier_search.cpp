#include "builders/budget/frontier_search.h"

#include <algorithm>
#include <tuple>

namespace frugal {
namespace {

using std::int64_t;

// Schedules of few stages are quickly found and planned.
constexpr int kLimits = 256, kLimitsOfManyStages = 64;

auto Rank(const ChainChoice& choice) {
  return std::tuple(choice.cost.seconds, choice.cost.peak_bytes);
}

// By time, each cost once.
void Order(std::vector<ChainChoice>& choices) {
  std::ranges::stable_sort(choices, {}, Rank);
  const auto rest = std::ranges::unique(choices, {}, Rank);
  choices.erase(rest.begin(), rest.end());
}

}  // namespace

std::vector<ChainChoice> FrontierSearch::Frontier() {
  std::vector<ChainChoice> frontier = planner_.known();
  frontier.push_back(planner_.Least());
  const int64_t low = frontier.back().cost.peak_bytes;
  const int64_t high = planner_.keep_all().cost.peak_bytes;
  const int limits = planner_.stage_count() <= kFewStages ? kLimits : kLimitsOfManyStages;
  for (int i = 0; i < limits && low < high; ++i) {
    if (auto choice = planner_.Fastest(low + (high - low) * i / limits)) {
      frontier.push_back(*std::move(choice));
    }
  }
  return frontier;
}

std::optional<BudgetCandidate> FrontierSearch::Fastest(int64_t budget_bytes,
                                                       std::vector<ChainChoice> small) {
  const BudgetCandidate keep_all = plan_(planner_.keep_all());
  if (keep_all.footprint.bytes <= budget_bytes) return keep_all;
  const int64_t beside = keep_all.footprint.peak_bytes - planner_.keep_all().cost.peak_bytes;
  std::vector<ChainChoice> tried = Frontier();
  // A schedule may take less than the model says, but not much.
  std::erase_if(tried, [&](const ChainChoice& choice) {
    return choice.cost.peak_bytes + beside > budget_bytes + budget_bytes / 16;
  });
  std::ranges::move(small, std::back_inserter(tried));
  Order(tried);
  std::optional<BudgetCandidate> best;
  for (const ChainChoice& choice : tried) {
    if (best && choice.cost.seconds > best->chain.cost.seconds) break;
    BudgetCandidate candidate = plan_(choice);
    if (candidate.footprint.bytes > budget_bytes) continue;
    if (!best || candidate.footprint.bytes < best->footprint.bytes) best = std::move(candidate);
  }
  return best;
}

}  // namespace frugal
