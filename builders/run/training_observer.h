#pragma once

#include <string>

#include "builders/run/training_result.h"

namespace frugal {

struct StepProgress {
  std::int64_t step = 0;  // from 1
  std::int64_t total_steps = 0;
  std::int64_t epoch = 0;  // from 1
  double loss = 0;
  double samples_per_second = 0;
  double seconds_left = 0;
};

struct TrainOptions {
  bool profile = false;  // time every kernel, by kind of operation
};

// Told of a training's progress.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void OnStep(const StepProgress& progress) = 0;
  virtual void OnEpoch(const EpochResult& epoch) = 0;
};

}  // namespace frugal
