#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "builders/execute/training_result.h"

namespace frugal {

struct StepProgress {
  std::int64_t step = 0;  // from 1
  std::int64_t total_steps = 0;
  std::int64_t epoch = 0;  // from 1
  double loss = 0;
  double samples_per_second = 0;
  double seconds_left = 0;
  double learning_rate = 0;     // of this step
  double gradient_norm = 0;     // before clipping; 0 where nothing clips
  std::int64_t live_bytes = 0;  // between this step and the next
};

// An observer may ask this of the training that it watches; it is done before the next step. Where
// a training runs in several processes, the observers of all of them must ask for a rate or for
// weights; the first process's alone stops the training, and that of any interrupts it.
class TrainingControl {
 public:
  void Stop() { stops_ = true; }
  // Stops without another evaluation, as a signal does.
  void Interrupt() { stops_ = interrupts_ = true; }
  // Learning rates are multiplied by this, in place of an earlier factor.
  void ScaleRate(double factor) { rate_scale_ = factor; }
  void SaveWeights(std::string path) { paths_.push_back(std::move(path)); }

  bool stops() const { return stops_; }
  bool interrupts() const { return interrupts_; }
  std::optional<double> TakeRateScale() { return std::exchange(rate_scale_, std::nullopt); }
  std::vector<std::string> TakePaths() { return std::exchange(paths_, {}); }

 private:
  bool stops_ = false;
  bool interrupts_ = false;
  std::optional<double> rate_scale_;
  std::vector<std::string> paths_;
};

struct TrainOptions {
  bool profile = false;  // time every kernel, by kind of operation
  // Snapshots of another training in snapshots.directory are removed; else they are refused.
  bool replaces_snapshots = false;
};

// Told of a training's progress. Threads: it is called by the one that trains, between steps, and
// may use the model there.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void OnStep(const StepProgress& progress) = 0;
  virtual void OnEpoch(const EpochResult& epoch) = 0;
  virtual void OnEvaluation(const Evaluation&) {}
  // Called behind each step, and the evaluation that may follow it.
  virtual void Steer(TrainingControl&) {}
};

}  // namespace frugal
