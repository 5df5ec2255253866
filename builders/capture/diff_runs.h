#pragma once

#include <optional>
#include <string>

#include "builders/execute/data_sources.h"
#include "builders/plan/planned_training.h"
#include "sdk/capture/run_hashes.h"

namespace frugal {

// Says how two trainings are held against each other.
struct DiffRunsOptions {
  std::int64_t steps = 1;
  CallSelection selection{};
  DataSources first_sources{}, second_sources{};  // data of the program's own
};

struct DiffRunsReport {
  std::optional<RunDifference> difference{};  // nothing where they agree to the last bit
  std::int64_t calls = 0;                     // that agree
  std::int64_t tensors = 0;                   // of the first run that were hashed
  std::int64_t steps = 0;                     // of the second run

  std::string Text() const;  // one or two sentences, without an end of line
};

// Runs one training and then the other for some steps, and finds the first operation at which they
// part. 16 bytes for each tensor of the first are kept in between, and nothing is written. Throws
// as CaptureTraining.
DiffRunsReport DiffRuns(PlannedTraining first, PlannedTraining second,
                        const DiffRunsOptions& options = {});

}  // namespace frugal
