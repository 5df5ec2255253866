#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "builders/execute/executor.h"
#include "builders/run/best_evaluation.h"
#include "builders/run/training_observer.h"

namespace frugal {

// The program of a training: epochs over the training part, an evaluation after each.
class TrainingLoop {
 public:
  // `save` writes the weights to a file.
  using Save = std::function<void(const std::string& path)>;
  // `epochs_before` were run before it: epochs count on, and their data come in new orders.
  TrainingLoop(Executor& executor, TrainingObserver* observer, const TrainOptions& options,
               Save save, std::int64_t epochs_before);
  TrainingResult Run();

 private:
  using Clock = std::chrono::steady_clock;

  void RunEpoch(std::int64_t epoch);
  void RunStep(std::span<const std::int64_t> samples, std::int64_t epoch);
  StepResult RunMeasured(std::span<const std::int64_t> samples);
  void WarnIfDiverged(double loss);
  void EvaluateInto(EpochResult& epoch);
  void EvaluateNow();
  // The part that evaluations during the training look at.
  DatasetPart watched_part() const {
    return schedule().validation_samples > 0 ? DatasetPart::kValidation : DatasetPart::kTest;
  }
  void TestInto(TrainingResult& result);
  void DropRateOnPlateau();
  void Report(std::int64_t epoch, const StepResult& step);
  void Steer();
  const RunConfig& config() const { return executor_.planned().config; }
  const EpochSchedule& schedule() const { return executor_.planned().schedule; }
  bool IsTimed() const;
  void StartProfile();
  void Finish();
  bool IsDone() const { return result_.stopped_early || result_.steps >= schedule().total_steps; }

  Executor& executor_;
  TrainingObserver* observer_;
  TrainOptions options_;
  Save save_;
  std::int64_t epochs_before_;
  BestEvaluation best_;
  TrainingControl control_;
  double rate_scale_ = 1;
  std::int64_t worse_ = 0;  // evaluations since the rate dropped or the best one
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
