#pragma once

#include <string>
#include <vector>

#include "builders/run/training_observer.h"
#include "sdk/io/append_file.h"

namespace frugal {

// Tells how much of a log a training that goes on has behind it.
struct LoggedSteps {
  std::int64_t steps = 0;
  std::int64_t evaluations = 0;  // behind the last of these steps
};

// Notes each step and evaluation of a training in a file as it comes: rows of a table where its
// name ends in .csv, else a JSON object a line. What was written stays where a training ends early,
// and is on the disk after each evaluation and epoch. What cannot be written is a warning.
class TrainingLog final : public TrainingObserver {
 public:
  // Throws FileError where the file cannot be made. `metrics` are training.metrics. A training that
  // goes on keeps what the file has of the steps before.
  TrainingLog(const std::string& path, std::vector<std::string> metrics,
              const LoggedSteps& before = {});

  void OnStep(const StepProgress& progress) override;
  void OnEpoch(const EpochResult&) override { file_.Sync(); }
  void OnEvaluation(const Evaluation& evaluation) override;

 private:
  void Write(const std::string& line) { file_.Append(line + "\n"); }

  std::vector<std::string> metrics_;
  bool is_table_;
  AppendFile file_;
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
