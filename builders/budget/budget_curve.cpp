#include "builders/budget/budget_curve.h"

#include <algorithm>
#include <optional>

#include "builders/budget/candidate_planner.h"
#include "builders/budget/free_knobs.h"
#include "builders/budget/paging_choice.h"
#include "builders/budget/paging_time.h"

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

// Adds the points of one choice of what lies in a page file.
class CurveLine {
 public:
  CurveLine(const TrainingSetup& setup, CandidatePlanner& planner, const StepSettings& settings)
      : setup_(setup),
        planner_(planner),
        settings_(settings),
        chain_(planner.ChainByModel(settings)) {}

  // Returns the candidate of the least peak. Appends its line to the curve.
  BudgetCandidate AddTo(BudgetCurve& curve) {
    const BudgetCandidate kept = Add(chain_->keep_all());
    if (curve.lines.empty()) curve.kept_peak_bytes = kept.footprint.peak_bytes;
    const ChainChoice least = chain_->Least();
    BudgetCandidate floor = Add(least);
    const std::int64_t low = least.cost.peak_bytes, high = chain_->keep_all().cost.peak_bytes;
    const int limits = HasManyLayers(setup_) ? kLimitsOfManyLayers : kLimits;
    for (int i = 1; i < limits && low < high; ++i) {
      const auto choice = chain_->Fastest(low + (high - low) * i / limits);
      if (!choice) continue;
      BudgetCandidate candidate = Add(*choice);
      if (candidate.footprint.peak_bytes < floor.footprint.peak_bytes) floor = std::move(candidate);
    }
    AddPartsOf(kept.footprint.paged_activation_bytes);
    KeepFastest(points_);
    curve.points.insert(curve.points.end(), points_.begin(), points_.end());
    curve.lines.push_back(std::move(points_));
    return floor;
  }

 private:
  // Adds points with quarters of what forward passes keep in the file, where all of it lies there.
  void AddPartsOf(std::int64_t activation_bytes) {
    if (settings_.paged_activation_bytes != kAllActivations || HasManyLayers(setup_)) return;
    for (const int quarter : {1, 2, 3}) {
      settings_.paged_activation_bytes = activation_bytes * quarter / 4;
      if (settings_.paged_activation_bytes > 0) Add(chain_->keep_all());
    }
  }

  BudgetCandidate Add(const ChainChoice& choice) {
    BudgetCandidate candidate = planner_.Plan(settings_, choice, 0);
    const double kept_seconds =
        chain_->keep_all().cost.seconds * static_cast<double>(settings_.micro_batches);
    const double seconds =
        SecondsWithPaging(setup_, candidate, PassSeconds::Of(candidate.seconds, kept_seconds));
    points_.push_back({.peak_bytes = candidate.footprint.peak_bytes,
                       .relative_time = kept_seconds > 0 ? seconds / kept_seconds : 1,
                       .segments = std::ssize(choice.segments),
                       .method = choice.method,
                       .paged = PagedPartsOf(settings_)});
    return candidate;
  }

  const TrainingSetup& setup_;
  CandidatePlanner& planner_;
  StepSettings settings_;
  std::shared_ptr<ChainPlanner> chain_;
  std::vector<BudgetPoint> points_;
};

}  // namespace

BudgetCurve CurveOf(const TrainingSetup& setup) {
  CandidatePlanner planner(setup);
  const bool can_update_in_backward = FreeKnobsOf(setup).optimizer_in_backward;
  BudgetCurve curve;
  std::optional<BudgetCandidate> floor;
  for (StepSettings settings : PagingChoices(setup)) {
    settings.use_gradient_checkpointing = false;  // segments are those of a chain
    BudgetCandidate least = CurveLine(setup, planner, settings).AddTo(curve);
    if (!settings.optimizer_in_backward && can_update_in_backward) {
      settings.optimizer_in_backward = true;
      BudgetCandidate candidate = planner.Plan(settings, least.chain, 0);
      if (candidate.footprint.peak_bytes < least.footprint.peak_bytes) least = std::move(candidate);
    }
    if (!floor || least.footprint.peak_bytes < floor->footprint.peak_bytes) {
      floor = std::move(least);
    }
  }
  curve.floor_updates_in_backward =
      floor->settings.optimizer_in_backward && !SettingsOf(setup.config).optimizer_in_backward;
  curve.floor_bytes = floor->footprint.peak_bytes;
  curve.at_floor = floor->footprint.at_peak;
  KeepFastest(curve.points);
  return curve;
}

}  // namespace frugal
