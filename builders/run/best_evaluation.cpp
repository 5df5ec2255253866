#include "builders/run/best_evaluation.h"

#include <algorithm>
#include <cmath>

#include "sdk/core/error.h"
#include "sdk/metrics/metric_registry.h"

namespace frugal {
namespace {

// The number that is looked at, and whether a larger one is better.
struct Measure {
  double value = 0;
  bool larger_is_better = true;
};

// An output's own numbers are no rows of the registry.
bool LargerIsBetter(const std::string& name) {
  if (name.ends_with("_loss")) return false;
  return name.ends_with("_accuracy") || FindMetric(name).larger_is_better;
}

Measure MeasureOf(const EvaluationResult& result, const std::string& by) {
  if (by == "loss") return {result.loss, false};
  if (by == "accuracy" && result.accuracy) return {*result.accuracy, true};
  const auto found = std::ranges::find(result.metrics, by, &MetricValue::name);
  if (found != result.metrics.end()) return {found->value, LargerIsBetter(by)};
  throw ConfigError({.where = "training.best_by",
                     .required = "\"loss\", \"accuracy\" of labels, or one of training.metrics",
                     .given = "best_by = \"" + by + "\"",
                     .advice = "add it to training.metrics"});
}

}  // namespace

bool BestEvaluation::Take(const Evaluation& evaluation) {
  const auto [value, larger] = MeasureOf(evaluation.result, by_);
  const bool is_better =
      best_ ? (larger ? value > best_->value : value < best_->value) : !std::isnan(value);
  if (is_better) best_ = {.step = evaluation.step, .by = by_, .value = value};
  since_ = is_better ? 0 : since_ + 1;
  return is_better;
}

}  // namespace frugal
