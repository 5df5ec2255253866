#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "builders/execute/executor.h"
#include "builders/run/best_evaluation.h"
#include "builders/run/training_observer.h"
#include "builders/snapshot/snapshot_keeper.h"

namespace frugal {

// The program of a training: epochs over the training part, an evaluation after each.
class TrainingLoop {
 public:
  // `save` writes the weights to a file.
  using Save = std::function<void(const std::string& path)>;
  // `start` says where the training stands: at its beginning, or behind some steps. Epochs that
  // were run before it count, and their data come in new orders.
  TrainingLoop(Executor& executor, TrainingObserver* observer, const TrainOptions& options,
               Save save, TrainingProgress start, const SnapshotStart& snapshots);
  TrainingResult Run();

 private:
  using Clock = std::chrono::steady_clock;

  void RunEpoch();
  void EndEpoch();
  void SaveBehind(const SnapshotKeeper::Moment& moment);
  void RunStep(std::span<const std::int64_t> samples);
  StepResult RunTimed(std::span<const std::int64_t> samples);
  StepResult RunMeasured(std::span<const std::int64_t> samples);
  void SaveBeforeFailure();
  // The snapshots' progress, with the times of this moment.
  const TrainingProgress& Stand();
  void WarnIfDiverged(double loss);
  void EvaluateInto(EpochResult& epoch);
  void EvaluateNow();
  // The part that evaluations during the training look at.
  DatasetPart watched_part() const {
    return schedule().validation_samples > 0 ? DatasetPart::kValidation : DatasetPart::kTest;
  }
  void TestInto(TrainingResult& result);
  void DropRateOnPlateau();
  void Report(const StepResult& step);
  void Steer();
  const RunConfig& config() const { return executor_.planned().config; }
  const EpochSchedule& schedule() const { return executor_.planned().schedule; }
  bool IsTimed() const;
  bool IsRecorded() const;
  void RecordGrowth();
  void StartProfile();
  void Finish();
  bool IsDone() const {
    return stopped_ || result_.stopped_early || result_.steps >= schedule().total_steps;
  }

  Executor& executor_;
  TrainingObserver* observer_;
  TrainOptions options_;
  Save save_;
  TrainingProgress at_;
  TrainingResult& result_ = at_.result;
  BestEvaluation best_;
  SnapshotKeeper snapshots_;
  TrainingControl control_;
  bool stopped_ = false;      // by the observer
  bool interrupted_ = false;  // by it, without looking at the test part again
  // The rest is of this process, which may have gone on behind others' steps.
  std::int64_t steps_here_ = 0;
  Clock::time_point last_time_;  // up to which at_ has the times
  Clock::time_point start_;
  double step_seconds_ = 0;  // spent in steps, without evaluation
  std::int64_t samples_here_ = 0;
  std::int64_t steps_before_profile_ = 0;
  double seconds_before_profile_ = 0;
  std::int64_t allocations_when_warm_ = 0;
  std::int64_t growth_stride_ = 1;
};

}  // namespace frugal
