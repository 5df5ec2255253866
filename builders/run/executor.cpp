#include "builders/run/executor.h"

#include <algorithm>

#include "builders/run/weights.h"
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

EvaluationResult Executor::Evaluate() {
  const EmaScope average(*this);
  const std::int64_t all = Open(DatasetPart::kTest);
  const std::int64_t samples = std::min(all, planned().config.data.test_limit.value_or(all));
  const std::vector<std::int64_t> order = FirstSamples(samples);
  EvaluationResult result;
  result.samples = samples;
  ResetMetrics();
  std::int64_t correct = 0;
  for (std::int64_t at = 0; at < samples;) {
    const std::int64_t count = std::min(planned().schedule.evaluation_batch, samples - at);
    const StepResult step = RunStep(
        StepKind::kEvaluate,
        std::span(order).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count)));
    result.loss += step.loss * static_cast<double>(count);
    correct += step.correct;
    at += count;
  }
  result.loss /= static_cast<double>(samples);
  if (planned().layout.classes > 0 && planned().diffusion == nullptr) {
    const std::int64_t labels = samples * planned().layout.label_shape.ElementCount();
    result.accuracy = static_cast<double>(correct) / static_cast<double>(labels);
  }
  result.metrics = MetricValues();
  return result;
}

std::string Executor::WeightsHash() {
  const EmaScope average(*this);
  return HashWeights(planned().parameters,
                     [this](const Parameter& parameter) { return ValueOf(parameter); });
}

}  // namespace frugal
