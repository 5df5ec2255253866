#pragma once

#include <string>
#include <vector>

#include "builders/setup/training_setup.h"

namespace frugal {

// A number that evaluations tell of one output of a network that has several: "age_loss",
// "age_accuracy". The first output is called "main"; its accuracy is that of the evaluation.
struct OutputMetric {
  std::string name;
  std::size_t output = 0;  // in StepResult::outputs
  // Labels of one sample, of which the share that is right is told; 0: its loss is.
  std::int64_t labels = 0;
};
// Returns none where the network has one output.
std::vector<OutputMetric> OutputMetricsOf(const TrainingSetup& setup);

// Returns the value over so many samples, of which `sum` has the sums.
double OutputMetricValue(const OutputMetric& metric, const StepResult& sum, std::int64_t samples);

// Returns the names of all that evaluations measure beside loss and accuracy: training.metrics,
// then those of outputs.
std::vector<std::string> EvaluatedNames(const TrainingSetup& setup);

}  // namespace frugal
