#include "builders/budget/frontier_search.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include "sdk/plan/chain_bound.h"

namespace frugal {
namespace {

using std::int64_t;

// Schedules of few stages are quickly found and planned.
constexpr int kLimits = 256, kLimitsOfManyStages = 64;
constexpr std::int64_t kLimitsOfBounds = 1024;

auto Rank(const ChainChoice& choice) {
  return std::tuple(choice.cost.seconds, choice.cost.peak_bytes);
}

// Returns the bytes of the largest output of a stage.
int64_t LargestOutput(const Chain& chain) {
  int64_t largest = 0;
  for (const ChainStage& stage : chain.stages) largest = std::max(largest, stage.output_bytes);
  return largest;
}

// Returns true where one takes less memory in no more time, or less time in no more memory.
bool IsBetter(const ChainChoice& one, const ChainChoice& other) {
  return one.cost.seconds <= other.cost.seconds && one.cost.peak_bytes <= other.cost.peak_bytes &&
         Rank(one) != Rank(other);
}

// By time, each cost once.
void Order(std::vector<ChainChoice>& choices) {
  std::ranges::stable_sort(choices, {}, Rank);
  const auto same = [](const ChainChoice& a, const ChainChoice& b) { return Rank(a) == Rank(b); };
  choices.erase(std::unique(choices.begin(), choices.end(), same), choices.end());
}

}  // namespace

void FrontierSearch::AddFrontierOf(ChainPlanner& planner, int64_t most_bytes,
                                   std::vector<ChainChoice>& frontier) {
  // Schedules that are not the fastest by the model, but may be by whole plans.
  for (const ChainChoice& known : planner.known()) {
    frontier.push_back(known);
    const bool is_best = std::ranges::none_of(
        planner.known(), [&](const ChainChoice& other) { return IsBetter(other, known); });
    if (is_best) frontier.push_back(planner.Shortened(known, known.cost.peak_bytes));
  }
  frontier.push_back(planner.Least());
  const int64_t low = frontier.back().cost.peak_bytes;
  const int64_t high = planner.keep_all().cost.peak_bytes;
  const int limits = planner.stage_count() <= kFewStages ? kLimits : kLimitsOfManyStages;
  for (int i = 0; i < limits && low < high; ++i) {
    const int64_t limit = low + (high - low) * i / limits;
    if (limit > most_bytes) break;
    if (auto choice = planner.Fastest(limit)) frontier.push_back(*std::move(choice));
  }
  if (planner.stage_count() > kFewStages) return;
  planner.FindAll();
  std::ranges::copy(planner.found(), std::back_inserter(frontier));
}

std::vector<ChainChoice> FrontierSearch::Frontier(int64_t most_bytes) {
  std::vector<ChainChoice> frontier;
  // A schedule of few stages that is found within a larger limit may take much less.
  const bool is_deep = planner_.stage_count() > kFewStages;
  const int64_t most_limit = is_deep ? most_bytes : std::numeric_limits<int64_t>::max();
  AddFrontierOf(planner_, most_limit, frontier);
  ChainPlanner* const as_if_kept = is_deep ? nullptr : planner_.AsIfKept();
  if (as_if_kept != nullptr) {
    const std::size_t own = frontier.size();
    AddFrontierOf(*as_if_kept, most_limit, frontier);
    for (std::size_t i = own; i < frontier.size(); ++i) {
      frontier[i].cost = planner_.CostOf(frontier[i].segments);
    }
  }
  std::erase_if(frontier,
                [&](const ChainChoice& choice) { return choice.cost.peak_bytes > most_bytes; });
  return frontier;
}

// Limits are the same for all budgets, and only those of a larger one are more. Bounds are each of
// those limits that are within so many bytes and not within half as many.
BudgetCandidate FrontierSearch::FasterByBounds(BudgetCandidate best, int64_t most_bytes,
                                               int64_t budget_bytes) {
  const Chain& chain = planner_.chain();
  if (chain.carried.empty() || chain.size() > ChainBound::kMostStages) return best;
  const int64_t low = planner_.Least().cost.peak_bytes;
  const int64_t high = planner_.keep_all().cost.peak_bytes;
  int64_t top = high;
  std::optional<ChainBound> bound;
  ChainBound::Branches branches = ChainBound::Branches::kNone;
  ChainCost last;
  for (int64_t i = kLimitsOfBounds; i > 0; --i) {
    const int64_t limit = low + (high - low) * i / kLimitsOfBounds;
    if (limit > most_bytes) continue;
    if (!bound || limit <= top / 2) {
      while (limit <= top / 2) top /= 2;
      bound.emplace(chain, top);
      // Each limit would take as long as the largest, where the branches of that are too many.
      const bool has_few =
          bound->BranchAndBound(top, std::numeric_limits<double>::infinity()).counts_all;
      branches = has_few ? ChainBound::Branches::kMany : ChainBound::Branches::kNone;
    }
    // Sums of equal times in another order may be less by their last digits.
    const double slow = best.chain.cost.seconds * (1 - 1e-12);
    const ChainBound::Branched branched = bound->BranchAndBound(limit, slow, branches);
    if (branched.seconds >= slow) return best;
    ChainChoice choice{branched.fastest, {}, std::string(ChainPlanner::kOptimal)};
    choice.cost = planner_.CostOf(choice.segments);
    const bool is_tried = choice.cost == last;
    last = choice.cost;
    if (is_tried || last.peak_bytes > most_bytes || last.seconds >= best.chain.cost.seconds)
      continue;
    BudgetCandidate candidate = plan_(choice);
    // Within lower limits there are only slower ones.
    if (candidate.footprint.bytes <= budget_bytes) return candidate;
  }
  return best;
}

// Each plan of many stages takes long, and slower schedules peak lower, as the model says but for
// little: so the first that fits is looked for around where the model has it.
std::optional<BudgetCandidate> FrontierSearch::FirstThatFits(
    const std::vector<ChainChoice>& choices, int64_t model_bytes, int64_t budget_bytes) {
  const auto fitting = [&](std::size_t i) {
    std::optional<BudgetCandidate> candidate = plan_(choices[i]);
    if (candidate->footprint.bytes > budget_bytes) candidate = std::nullopt;
    return candidate;
  };
  const auto predicted = std::ranges::find_if(
      choices, [&](const ChainChoice& choice) { return choice.cost.peak_bytes <= model_bytes; });
  const auto first = static_cast<std::size_t>(predicted - choices.begin());
  std::optional<BudgetCandidate> best;
  for (std::size_t i = first; i < choices.size() && !best; ++i) best = fitting(i);
  // None before the predicted one fits where that one did not.
  if (!best || best->chain.cost.seconds > choices[first].cost.seconds) return best;
  for (std::size_t i = first; i > 0; --i) {
    // The model is about as far off beside a schedule as it is for that one.
    const int64_t beside = budget_bytes - model_bytes;
    const int64_t own = choices[i].cost.peak_bytes + beside;
    const int64_t off =
        std::abs(own - best->footprint.peak_bytes) + LargestOutput(planner_.chain());
    if (choices[i - 1].cost.peak_bytes + beside > budget_bytes + off) break;
    auto faster = fitting(i - 1);
    if (!faster) break;
    best = std::move(faster);
  }
  return best;
}

std::optional<BudgetCandidate> FrontierSearch::Fastest(int64_t budget_bytes,
                                                       std::vector<ChainChoice> small) {
  const BudgetCandidate keep_all = plan_(planner_.keep_all());
  if (keep_all.footprint.bytes <= budget_bytes) return keep_all;
  const int64_t beside = keep_all.footprint.peak_bytes - planner_.keep_all().cost.peak_bytes;
  const bool is_deep = planner_.stage_count() > kFewStages;
  // A schedule may take less than the model says, but not much. Of many stages the model only says
  // where to look.
  const int64_t off = LargestOutput(planner_.chain()) + (is_deep ? budget_bytes / 16 : 0);
  std::vector<ChainChoice> tried = Frontier(budget_bytes + off - beside);
  std::ranges::move(small, std::back_inserter(tried));
  Order(tried);
  if (is_deep) {
    return FirstThatFits(tried, budget_bytes - beside, budget_bytes);
  }
  std::optional<BudgetCandidate> best;
  for (const ChainChoice& choice : tried) {
    if (best && choice.cost.seconds > best->chain.cost.seconds) break;
    BudgetCandidate candidate = plan_(choice);
    if (candidate.footprint.bytes > budget_bytes) continue;
    if (!best || candidate.footprint.bytes < best->footprint.bytes) best = std::move(candidate);
  }
  if (!best) return best;
  return FasterByBounds(*std::move(best), budget_bytes - beside, budget_bytes);
}

}  // namespace frugal
