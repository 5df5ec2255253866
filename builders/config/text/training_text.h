#pragma once

#include <string>
#include <vector>

#include "builders/config/run_config.h"

namespace frugal {

// Writes all of a training's configuration as TOML that ReadRunConfigText reads with the same
// outcome: values that differ from their defaults, but for those that the planner chose and will
// choose again; the number of micro-batches, which numbers depend on, is among them. A network that
// no text describes (WhyUndescribed) is left out.
std::string TrainingText(const RunConfig& config);

// A value that two configurations of one training have apart.
struct ConfigDifference {
  std::string key;  // "optimizer.lr"
  std::string before, now;
};

// Lists the values that a training that goes on may not have changed, since its numbers would be
// others. Others may change: how memory is used, devices and how they share the work where their
// sums stay the same, threads, the length of the training, what is measured on the way, and what
// is written. Networks are compared where both are described.
std::vector<ConfigDifference> DifferencesInNumbers(const RunConfig& before, const RunConfig& now);

}  // namespace frugal
