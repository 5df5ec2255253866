#pragma once

#include <memory>
#include <vector>

#include "builders/setup/training_setup.h"
#include "sdk/metrics/metric.h"

namespace frugal {

// Makes one metric of each name in training.metrics, in their order. Throws ConfigError for a name
// that is unknown, a metric that the data have no targets for, and a best_by or a patience that no
// evaluation serves.
std::vector<std::unique_ptr<Metric>> MakeMetrics(const TrainingSetup& setup);

}  // namespace frugal
