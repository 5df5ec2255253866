#include "builders/execute/executor.h"

#include <algorithm>

#include "builders/execute/weights.h"
#include "builders/setup/output_metrics.h"
#include "sdk/core/log.h"

namespace frugal {
void Executor::RequireFiniteWeights() {
  const auto path = FindNonFinite();
  if (!path) return;
  const DivergenceError error =
      Diverged("parameter " + *path + " holds numbers that are not finite");
  if (planned().config.training.on_divergence == DivergencePolicy::kStop) throw error;
  LogWarning(error.what());
}

EvaluationResult Executor::Evaluate(DatasetPart part) {
  const EmaScope average(*this);
  std::int64_t samples = Open(part);
  if (part == DatasetPart::kTest) {
    samples = std::min(samples, planned().config.data.test_limit.value_or(samples));
  }
  const std::vector<std::int64_t> order = FirstSamples(samples);
  EvaluationResult result;
  result.samples = samples;
  ResetMetrics();
  StepResult sum;
  for (std::int64_t at = 0; at < samples;) {
    const std::int64_t count = std::min(planned().schedule.evaluation_batch, samples - at);
    const StepResult step = RunStep(
        StepKind::kEvaluate, {.part = part,
                              .numbers = std::span(order).subspan(
                                  static_cast<std::size_t>(at), static_cast<std::size_t>(count))});
    AddPart(sum, step, static_cast<double>(count));
    at += count;
  }
  result.loss = sum.loss / static_cast<double>(samples);
  const bool has_labels = planned().layout.classes > 0 && planned().diffusion == nullptr;
  if (has_labels && VotesForLabels(planned().config.loss)) {
    const std::int64_t labels = samples * planned().layout.label_shape.ElementCount();
    result.accuracy = static_cast<double>(sum.correct) / static_cast<double>(labels);
  }
  result.metrics = MetricValues();
  for (const OutputMetric& metric : OutputMetricsOf(planned())) {
    result.metrics.push_back(
        {.name = metric.name, .value = OutputMetricValue(metric, sum, samples)});
  }
  return result;
}

std::string Executor::WeightsHash() {
  const EmaScope average(*this);
  return HashWeights(planned().parameters,
                     [this](const Parameter& parameter) { return ValueOf(parameter); });
}

}  // namespace frugal
