#pragma once

#include <string>

#include "builders/run/training_observer.h"
#include "sdk/io/event_file.h"

namespace frugal {

// Writes a training's numbers for TensorBoard as they come: of each step train/loss,
// train/learning_rate, train/gradient_norm (where gradients are clipped, and so have one),
// train/samples_per_second and memory/live_bytes; of each evaluation evaluation/loss,
// evaluation/accuracy and evaluation/<metric>; of each epoch epoch/mean_loss and epoch/seconds.
// Steps count from 1. What was written is on the disk after each evaluation and epoch.
class TensorBoardLog final : public TrainingObserver {
 public:
  // Throws FileError where no file can be made in the directory. A training that goes on behind
  // some steps takes the place of what earlier files have of later ones.
  explicit TensorBoardLog(const std::string& directory, std::int64_t steps_before = 0);

  void OnStep(const StepProgress& progress) override;
  void OnEpoch(const EpochResult& epoch) override;
  void OnEvaluation(const Evaluation& evaluation) override;

  const std::string& path() const { return file_.path(); }  // of the file of events

 private:
  EventFile file_;
  std::int64_t step_ = 0;  // the last one
};

}  // namespace frugal
