#pragma once

#include <cstdint>
#include <string>

#include "builders/execute/training_result.h"

namespace frugal {

// Tells where a training (one Train() of a model) stands between two steps: all that its next step
// and its curves depend on, beside tensors. Times are those of all processes that ran it.
struct TrainingProgress {
  std::int64_t epochs_before = 0;   // that earlier trainings of the model ran
  std::int64_t epoch = 0;           // that the next step is of, counted on from those
  std::int64_t steps_in_epoch = 0;  // that it has behind it
  double rate_scale = 1;
  std::int64_t worse = 0;       // evaluations since the rate dropped or the best one
  std::int64_t since_best = 0;  // evaluations since the best one
  bool diverged = false;        // a loss was not finite
  std::int64_t samples_seen = 0;
  double seconds = 0;
  double step_seconds = 0;  // of these in steps, without evaluations
  double epoch_seconds = 0;
  // The steps, losses, norms of gradients, epochs, evaluations and best one so far, and whether
  // patience ended it.
  TrainingResult result{};
};

// As JSON, to the last bit, but for the losses and norms of steps: they are long, and stored apart.
std::string ProgressText(const TrainingProgress& progress);
// Throws nlohmann's error or std::invalid_argument for a text that ProgressText does not make.
TrainingProgress ReadProgress(const std::string& text);

}  // namespace frugal
