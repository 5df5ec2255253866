#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "builders/run/model.h"

namespace frugal {

struct RunTrainingOptions {
  bool quiet = false;             // print nothing
  bool allow_overcommit = false;  // train what does not fit the memory that is free now
  bool profile = false;           // time every kernel, and print a table of them
  // Says where to go on from: "auto", the last snapshot, if there is one; "must", the last
  // snapshot; a path; "new": from nothing, and snapshots of before are removed. Empty: from
  // nothing.
  std::string resume = {};
  std::vector<std::string> keep = {};  // files that no output may replace
  // Makes the observer of the model's training; not given: one that prints progress.
  std::function<std::unique_ptr<TrainingObserver>(Model&)> watch = {};
};

struct TrainedRun {
  Model model;
  TrainingResult result;
};

// A whole training as programs show it: checks that the outputs can be written, prints the plan
// before anything of it is allocated, refuses one that does not fit the memory that is free now,
// trains with progress, prints what was reached and planned beside measured memory, and writes what
// [output] names. With own data, `sources` holds it. SIGINT and SIGTERM end it behind the step that
// runs: the snapshot and what [output] names are written, and Interrupted is thrown.
TrainedRun RunTraining(PlannedTraining planned, const RunTrainingOptions& options = {},
                       DataSources sources = {});

}  // namespace frugal
