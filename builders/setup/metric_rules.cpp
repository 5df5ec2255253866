#include "builders/setup/metric_rules.h"

#include <algorithm>

#include "builders/setup/output_metrics.h"
#include "sdk/core/error.h"
#include "sdk/metrics/metric_registry.h"

namespace frugal {
namespace {

bool HasLabels(const TrainingSetup& setup) {
  return setup.layout.classes > 0 && setup.diffusion == nullptr;
}

[[noreturn]] void Refuse(const std::string& field, const std::string& required,
                         const std::string& given, const std::string& advice) {
  throw ConfigError(
      {.where = "training." + field, .required = required, .given = given, .advice = advice});
}

// Refuses the name of a number that no evaluation has.
void CheckMeasured(const TrainingSetup& setup, const std::string& key, const std::string& by) {
  const std::vector<std::string> names = EvaluatedNames(setup);
  const bool is_metric = std::ranges::count(names, by) > 0;
  const bool has_accuracy = HasLabels(setup) && VotesForLabels(setup.config.loss);
  if (by == "loss" || is_metric || (by == "accuracy" && has_accuracy)) return;
  throw ConfigError({.where = key,
                     .required = "\"loss\", \"accuracy\" of labels, one of training.metrics, or "
                                 "an output's _loss or _accuracy",
                     .given = key.substr(key.find('.') + 1) + " = \"" + by + "\"",
                     .advice = "add it to training.metrics"});
}

void CheckBest(const TrainingSetup& setup) {
  const TrainingOptions& training = setup.config.training;
  const SnapshotOptions& snapshots = setup.config.snapshots;
  CheckMeasured(setup, "training.best_by", training.best_by);
  if (snapshots.keep_best > 0) CheckMeasured(setup, "snapshots.monitor", snapshots.monitor);
  if (setup.schedule.evaluates()) return;
  const auto needs = [](const std::string& key, const std::string& required) {
    throw ConfigError(
        {.where = key,
         .required = required,
         .given = "there are none",
         .advice = "give a test or a validation part, and leave training.evaluate at true"});
  };
  if (training.patience) needs("training.patience", "evaluations tell when to stop");
  if (setup.config.schedule.kind == ScheduleKind::kPlateau) {
    needs("schedule.kind", "evaluations tell when the rate of a plateau drops");
  }
  if (snapshots.keep_best > 0) {
    needs("snapshots.keep_best", "evaluations tell which snapshots are the best");
  }
  if (setup.config.output.best_weights) {
    needs("output.best_weights", "evaluations tell which weights are the best");
  }
}

}  // namespace

std::vector<std::unique_ptr<Metric>> MakeMetrics(const TrainingSetup& setup) {
  const bool labels = HasLabels(setup);
  const std::vector<std::string>& names = setup.config.training.metrics;
  if (labels && !names.empty() && !VotesForLabels(setup.config.loss)) {
    Refuse(
        "metrics", names.front() + " compares each row of outputs with its label",
        "the loss " + NameOf(setup.config.loss) + " compares all rows of a sample with its labels",
        "leave it out");
  }
  std::vector<std::unique_ptr<Metric>> metrics;
  for (const std::string& name : names) {
    if (FindMetric(name).of_labels != labels) {
      Refuse("metrics", name + " is of data with " + (labels ? "real targets" : "class labels"),
             labels ? "these have labels" : "these have real targets", "leave it out");
    }
    metrics.push_back(MakeMetric(name, {.classes = labels ? setup.layout.classes : 0}));
  }
  // Stages of a pipeline have no test part of their own.
  if (!setup.stage) CheckBest(setup);
  return metrics;
}

}  // namespace frugal
