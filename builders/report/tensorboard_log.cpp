#include "builders/report/tensorboard_log.h"

namespace frugal {

TensorBoardLog::TensorBoardLog(const std::string& directory, std::int64_t steps_before)
    : file_(directory) {
  if (steps_before > 0) file_.BeginAgainAt(steps_before + 1);
}

void TensorBoardLog::OnStep(const StepProgress& progress) {
  step_ = progress.step;
  std::vector<Scalar> scalars = {{"train/loss", progress.loss},
                                 {"train/learning_rate", progress.learning_rate},
                                 {"train/samples_per_second", progress.samples_per_second},
                                 {"memory/live_bytes", static_cast<double>(progress.live_bytes)}};
  if (progress.gradient_norm != 0) {
    scalars.push_back({"train/gradient_norm", progress.gradient_norm});
  }
  file_.Write(progress.step, scalars);
}

void TensorBoardLog::OnEpoch(const EpochResult& epoch) {
  file_.Write(step_, {{"epoch/mean_loss", epoch.mean_loss}, {"epoch/seconds", epoch.seconds}});
  file_.Flush();
}

void TensorBoardLog::OnEvaluation(const Evaluation& evaluation) {
  const EvaluationResult& result = evaluation.result;
  std::vector<Scalar> scalars = {{"evaluation/loss", result.loss}};
  if (result.accuracy) scalars.push_back({"evaluation/accuracy", *result.accuracy});
  for (const MetricValue& metric : result.metrics) {
    if (metric.name == "accuracy" && result.accuracy) continue;  // is there already
    scalars.push_back({"evaluation/" + metric.name, metric.value});
  }
  file_.Write(evaluation.step, scalars);
  file_.Flush();
}

}  // namespace frugal
