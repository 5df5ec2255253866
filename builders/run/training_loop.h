#pragma once

#include <chrono>

#include "builders/run/executor.h"
#include "builders/run/training_observer.h"

namespace frugal {

// The program of a training: epochs over the training part, an evaluation after each.
class TrainingLoop {
 public:
  TrainingLoop(Executor& executor, TrainingObserver* observer, const TrainOptions& options)
      : executor_(executor), observer_(observer), options_(options) {}
  TrainingResult Run();

 private:
  using Clock = std::chrono::steady_clock;

  void RunEpoch(std::int64_t epoch);
  void RunStep(std::span<const std::int64_t> samples, std::int64_t epoch);
  StepResult RunMeasured(std::span<const std::int64_t> samples);
  void WarnIfDiverged(double loss);
  void EvaluateInto(EpochResult& epoch);
  void Report(std::int64_t epoch, double loss);
  const RunConfig& config() const { return executor_.planned().config; }
  const EpochSchedule& schedule() const { return executor_.planned().schedule; }
  bool IsTimed() const;
  void StartProfile();
  void Finish();
  bool IsDone() const { return result_.steps >= schedule().total_steps; }

  Executor& executor_;
  TrainingObserver* observer_;
  TrainOptions options_;
  TrainingResult result_;
  Clock::time_point start_;
  double step_seconds_ = 0;  // spent in steps, without evaluation
  std::int64_t steps_before_profile_ = 0;
  double seconds_before_profile_ = 0;
  std::int64_t samples_seen_ = 0;
  std::int64_t allocations_when_warm_ = 0;
  bool diverged_ = false;  // a loss was not finite
};

}  // namespace frugal
