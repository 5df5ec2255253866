#include "builders/execute/evaluation_number.h"

#include <algorithm>

#include "sdk/core/error.h"
#include "sdk/metrics/metric_registry.h"

namespace frugal {

double EvaluationNumber(const EvaluationResult& result, const std::string& name,
                        const std::string& key) {
  if (name == "loss") return result.loss;
  if (name == "accuracy" && result.accuracy) return *result.accuracy;
  const auto found = std::ranges::find(result.metrics, name, &MetricValue::name);
  if (found != result.metrics.end()) return found->value;
  throw ConfigError({.where = key,
                     .required = "\"loss\", \"accuracy\" of labels, or one of training.metrics",
                     .given = "\"" + name + "\"",
                     .advice = "add it to training.metrics"});
}

bool LargerIsBetter(const std::string& name) {
  if (name == "loss" || name.ends_with("_loss")) return false;  // an output's own too
  return name.ends_with("accuracy") || FindMetric(name).larger_is_better;
}

}  // namespace frugal
