#include "builders/budget/budget_curve.h"

#include <algorithm>

#include "builders/budget/candidate_planner.h"
#include "builders/budget/free_knobs.h"

namespace frugal {
namespace {

constexpr int kLimits = 12;
constexpr int kLimitsOfManyLayers = 4;

// Keeps a point for each peak that no faster one reaches.
void KeepFastest(std::vector<BudgetPoint>& points) {
  std::ranges::stable_sort(points, [](const BudgetPoint& a, const BudgetPoint& b) {
    return a.relative_time != b.relative_time ? a.relative_time < b.relative_time
                                              : a.peak_bytes < b.peak_bytes;
  });
  std::vector<BudgetPoint> kept;
  for (BudgetPoint& point : points) {
    if (kept.empty() || point.peak_bytes < kept.back().peak_bytes) kept.push_back(std::move(point));
  }
  points = std::move(kept);
}

}  // namespace

BudgetCurve CurveOf(const TrainingSetup& setup) {
  CandidatePlanner planner(setup);
  StepSettings settings = SettingsOf(setup.config);
  settings.use_gradient_checkpointing = false;  // segments are those of a chain
  ChainPlanner chain = planner.ChainByModel(settings);
  BudgetCurve curve;
  const double kept_seconds = chain.keep_all().cost.seconds;
  const auto add = [&](const ChainChoice& choice) {
    const BudgetCandidate candidate = planner.Plan(settings, choice, 0);
    curve.points.push_back(
        {.peak_bytes = candidate.footprint.peak_bytes,
         .relative_time = kept_seconds > 0 ? choice.cost.seconds / kept_seconds : 1,
         .segments = std::ssize(choice.segments),
         .method = choice.method});
    return candidate;
  };
  curve.kept_peak_bytes = add(chain.keep_all()).footprint.peak_bytes;
  const ChainChoice least = chain.Least();
  BudgetCandidate floor = add(least);
  const std::int64_t low = least.cost.peak_bytes, high = chain.keep_all().cost.peak_bytes;
  const int limits = HasManyLayers(setup) ? kLimitsOfManyLayers : kLimits;
  for (int i = 1; i < limits && low < high; ++i) {
    const auto choice = chain.Fastest(low + (high - low) * i / limits);
    if (!choice) continue;
    BudgetCandidate candidate = add(*choice);
    if (candidate.footprint.peak_bytes < floor.footprint.peak_bytes) floor = std::move(candidate);
  }
  if (!settings.optimizer_in_backward && FreeKnobsOf(setup).optimizer_in_backward) {
    StepSettings in_backward = settings;
    in_backward.optimizer_in_backward = true;
    BudgetCandidate candidate = planner.Plan(in_backward, floor.chain, 0);
    curve.floor_updates_in_backward = candidate.footprint.peak_bytes < floor.footprint.peak_bytes;
    if (curve.floor_updates_in_backward) floor = std::move(candidate);
  }
  curve.floor_bytes = floor.footprint.peak_bytes;
  curve.at_floor = floor.footprint.at_peak;
  KeepFastest(curve.points);
  return curve;
}

}  // namespace frugal
