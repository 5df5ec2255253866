#include "builders/setup/output_metrics.h"

#include <algorithm>

namespace frugal {
namespace {

// Returns how many labels the output has for each sample; 0 where it is compared with values.
std::int64_t LabelsOf(const NetworkOutput& output, const DataLayout& layout) {
  if (!VotesForLabels(output.options.loss)) return 0;
  const std::string& target = output.options.target;
  if (target.empty()) return layout.classes > 0 ? layout.label_shape.ElementCount() : 0;
  const auto found = std::ranges::find(layout.more_targets, target, &NamedTargets::name);
  return found->classes > 0 ? found->shape.ElementCount() : 0;
}

}  // namespace

std::vector<OutputMetric> OutputMetricsOf(const TrainingSetup& setup) {
  std::vector<OutputMetric> metrics;
  if (setup.more_outputs.empty()) return metrics;
  metrics.push_back({.name = "main_loss"});
  for (std::size_t i = 0; i < setup.more_outputs.size(); ++i) {
    const NetworkOutput& output = setup.more_outputs[i];
    metrics.push_back({.name = output.name + "_loss", .output = i + 1});
    const std::int64_t labels = LabelsOf(output, setup.layout);
    if (labels == 0) continue;
    metrics.push_back({.name = output.name + "_accuracy", .output = i + 1, .labels = labels});
  }
  return metrics;
}

double OutputMetricValue(const OutputMetric& metric, const StepResult& sum, std::int64_t samples) {
  const OutputResult& output = sum.outputs[metric.output];
  if (metric.labels == 0) return output.loss / static_cast<double>(samples);
  return static_cast<double>(output.correct) / static_cast<double>(samples * metric.labels);
}

std::vector<std::string> EvaluatedNames(const TrainingSetup& setup) {
  std::vector<std::string> names = setup.config.training.metrics;
  for (OutputMetric& metric : OutputMetricsOf(setup)) names.push_back(std::move(metric.name));
  return names;
}

}  // namespace frugal
