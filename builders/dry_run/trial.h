#pragma once

#include <cstdint>
#include <vector>

#include "builders/setup/training_setup.h"

namespace frugal {

// A way to run a training that is set up: what a dry run needs beside the setup.
struct Trial {
  StepSettings settings;
  EpochSchedule schedule;  // with the sizes of batches of this trial
  // These counts are as in Plan: empty where no parameter is updated in the backward pass.
  std::vector<std::int64_t> final_after{};
  std::vector<std::int64_t> summed_after{};

  bool updates_in_backward() const { return !final_after.empty(); }
};

// Makes a trial with these settings, whose counts of gradients are still empty.
Trial TrialWith(const TrainingSetup& setup, const StepSettings& settings);

inline StepParts StepPartsOf(const TrainingSetup& setup, const Trial& trial) {
  return StepPartsOf(setup, trial.settings, trial.final_after, trial.summed_after);
}

}  // namespace frugal
