#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "builders/run/training_observer.h"

namespace frugal {

// Notes each step and evaluation of a training in a file as it comes: rows of a table where its
// name ends in .csv, else a JSON object a line. What was written stays where a training ends early.
class TrainingLog final : public TrainingObserver {
 public:
  // Throws FileError where the file cannot be made. `metrics` are training.metrics.
  TrainingLog(const std::string& path, std::vector<std::string> metrics);

  void OnStep(const StepProgress& progress) override;
  void OnEpoch(const EpochResult&) override {}
  void OnEvaluation(const Evaluation& evaluation) override;

 private:
  void Write(const std::string& line);

  std::string path_;
  std::vector<std::string> metrics_;
  bool is_table_;
  std::ofstream file_;
};

// Tells several observers of one training.
class Observers final : public TrainingObserver {
 public:
  explicit Observers(std::vector<TrainingObserver*> all) : all_(std::move(all)) {}

  void OnStep(const StepProgress& progress) override;
  void OnEpoch(const EpochResult& epoch) override;
  void OnEvaluation(const Evaluation& evaluation) override;
  void Steer(TrainingControl& control) override;

 private:
  std::vector<TrainingObserver*> all_;
};

}  // namespace frugal
