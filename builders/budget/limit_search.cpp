#include "builders/budget/limit_search.h"

#include <algorithm>

#include "sdk/plan/local_search_moves.h"

namespace frugal {
namespace {

using std::int64_t;

constexpr int kMostTries = 60;

}  // namespace

bool LimitSearch::Try(const ChainChoice& choice) {
  const auto [met, is_new] = memo_.try_emplace({choice.cost.peak_bytes, choice.cost.seconds});
  if (!is_new) return met->second;
  BudgetCandidate candidate = plan_(choice);
  met->second = candidate.footprint.bytes <= budget_bytes_;
  if (met->second && (!best_ || candidate.seconds < best_->seconds)) best_ = std::move(candidate);
  return met->second;
}

bool LimitSearch::TryLimit(int64_t bytes) {
  const auto choice = planner_.Fastest(bytes);
  return choice && Try(*choice);
}

// Outwards from the guess in growing steps, until one limit fits and one does not; then between.
void LimitSearch::SearchLimit(int64_t guess) {
  const int64_t step = std::max<int64_t>(1, too_much_ / 1000);
  int64_t fitting = 0;
  int64_t at = std::clamp<int64_t>(guess, 0, too_much_ - 1);
  const bool up = TryLimit(at);
  for (int64_t wider = step; up && at < too_much_; wider *= 2) {
    fitting = at;
    at = std::min(too_much_, at + wider);
    if (at < too_much_ && !TryLimit(at)) too_much_ = at;
  }
  for (int64_t wider = step; !up && fitting == 0 && at > 0; wider *= 2) {
    too_much_ = at;
    at = std::max<int64_t>(0, at - wider);
    if (TryLimit(at)) fitting = at;
  }
  while (too_much_ - fitting > step) {
    const int64_t limit = fitting + (too_much_ - fitting) / 2;
    (TryLimit(limit) ? fitting : too_much_) = limit;
  }
}

// Near the least that a chain can do with, what fits by the model and what does so planned whole
// may differ either way: schedules for limits above the model's least, one after the other.
void LimitSearch::ScanUp() {
  const ChainChoice choice = planner_.Least();
  Try(choice);
  const int64_t least = choice.cost.peak_bytes;
  for (int i = 0; i < 12; ++i) TryLimit(least + least * i / 16);
}

// Schedules that the model says take somewhat more than the limit may take less.
void LimitSearch::TryKnown(int tries) {
  std::vector<ChainChoice> known = planner_.known();
  std::ranges::sort(known, {}, [](const ChainChoice& one) { return one.cost.seconds; });
  for (const ChainChoice& choice : known) {
    if (tries == 0 || (best_ && choice.cost.seconds >= best_->chain.cost.seconds)) return;
    if (choice.cost.peak_bytes > too_much_ + too_much_ / 4) continue;
    Try(choice);
    --tries;
  }
}

// Schedules that know only the number of stages run more of them again than these need.
void LimitSearch::DropSegments() {
  int tries = kMostTries;
  for (bool is_faster = true; is_faster;) {
    is_faster = false;
    std::vector<ChainChoice> simpler;
    for (CheckpointSegments& segments : WithOneSegmentLess(best_->chain.segments)) {
      const ChainCost cost = planner_.CostOf(segments);
      if (cost.seconds >= best_->chain.cost.seconds) continue;
      simpler.push_back({std::move(segments), cost, best_->chain.method});
    }
    std::ranges::sort(simpler, {}, [](const ChainChoice& one) { return one.cost.seconds; });
    for (const ChainChoice& choice : simpler) {
      if (tries-- == 0) return;
      if ((is_faster = Try(choice))) break;
    }
  }
}

BudgetCandidate LimitSearch::FasterThan(BudgetCandidate fitting) {
  best_ = std::move(fitting);
  if (planner_.stage_count() > kFewStages) return *best_;
  TryKnown(kMostTries);
  DropSegments();
  return *best_;
}

std::optional<BudgetCandidate> LimitSearch::Fastest() {
  const ChainChoice& all = planner_.keep_all();
  const BudgetCandidate keep_all = plan_(all);
  if (keep_all.footprint.bytes <= budget_bytes_) return keep_all;
  too_much_ = all.cost.peak_bytes;
  const int64_t beside = keep_all.footprint.peak_bytes - all.cost.peak_bytes;
  SearchLimit(budget_bytes_ - beside);
  if (!best_ || planner_.stage_count() <= kFewStages) ScanUp();
  const bool has_few = planner_.stage_count() <= kFewStages;
  TryKnown(has_few ? 12 : 3);
  if (!best_ || !has_few || best_->chain.method == ChainPlanner::kOptimal) return best_;
  DropSegments();
  return best_;
}

}  // namespace frugal
