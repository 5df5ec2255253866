#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "builders/budget/budget_search.h"
#include "builders/plan/planned_training.h"

namespace frugal::testing {

// Holds what budgets from below the least to above all that a training would take make of it. The
// laws: what is chosen is never over its budget; a smaller budget never raises the footprint; a
// larger one never the predicted time, but where it is the first that no sum is reordered within,
// and never is more reordered; what fits one budget fits all larger ones.
struct PlannerLaws {
  int budgets = 0;
  int fits = 0;
  int over = 0;
  int higher = 0;   // footprints that fall as the budget grows
  int slower = 0;   // times that grow with the budget
  int refused = 0;  // budgets above one that was met
  double longest_seconds = 0;
  double mean_slowdown = 0;  // of those that fit, predicted
  double least_bound = 1;    // of all schedules within a budget, as a share of what was chosen

  int broken() const { return over + higher + slower + refused; }
  void Add(const PlannerLaws& other) {
    const double slowdowns = mean_slowdown * fits + other.mean_slowdown * other.fits;
    budgets += other.budgets;
    fits += other.fits;
    over += other.over;
    higher += other.higher;
    slower += other.slower;
    refused += other.refused;
    longest_seconds = std::max(longest_seconds, other.longest_seconds);
    least_bound = std::min(least_bound, other.least_bound);
    mean_slowdown = fits > 0 ? slowdowns / fits : 0;
  }
};

inline bool Reorders(const BudgetCandidate& candidate, const StepSettings& stated) {
  return candidate.settings.micro_batches != stated.micro_batches ||
         candidate.settings.loss_chunk_rows != stated.loss_chunk_rows;
}

enum class WithBounds : std::uint8_t { kNo, kYes };  // these take longer than planning

inline PlannerLaws TestPlannerLaws(const TrainingSetup& setup, int budgets,
                                   WithBounds with_bounds = WithBounds::kNo) {
  BudgetSearch whole(setup, 0);
  const double least = 0.99 * static_cast<double>(whole.Least().footprint.bytes);
  const double most = 1.01 * static_cast<double>(whole.unconstrained().footprint.bytes);
  const double seconds = whole.unconstrained().seconds;
  const StepSettings stated = SettingsOf(setup.config);
  PlannerLaws laws{.budgets = budgets};
  std::optional<BudgetCandidate> before;
  for (int i = 0; i < budgets; ++i) {
    const auto bytes = static_cast<std::int64_t>(least + (most - least) * i / (budgets - 1));
    const auto start = std::chrono::steady_clock::now();
    BudgetSearch search(setup, bytes);
    auto chosen = search.Fastest();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    laws.longest_seconds = std::max(laws.longest_seconds, taken.count());
    if (!chosen) {
      laws.refused += before ? 1 : 0;
      continue;
    }
    ++laws.fits;
    laws.mean_slowdown += seconds > 0 ? chosen->seconds / seconds : 1;
    const auto bounds = with_bounds == WithBounds::kYes ? search.BoundsOf(*chosen) : std::nullopt;
    if (bounds) {
      laws.least_bound = std::min(laws.least_bound, bounds->within_budget / chosen->seconds);
    }
    laws.over += chosen->footprint.bytes > bytes ? 1 : 0;
    if (before) {
      const bool reorders = Reorders(*chosen, stated), reordered = Reorders(*before, stated);
      laws.higher += before->footprint.bytes > chosen->footprint.bytes ? 1 : 0;
      const bool is_slower = chosen->seconds > before->seconds * (1 + 1e-9);
      laws.slower += (reorders && !reordered) || (is_slower && reorders == reordered) ? 1 : 0;
    }
    before = std::move(chosen);
  }
  if (laws.fits > 0) laws.mean_slowdown /= laws.fits;
  return laws;
}

}  // namespace frugal::testing
