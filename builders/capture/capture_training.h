#pragma once

#include <string>

#include "builders/execute/data_sources.h"
#include "builders/plan/planned_training.h"
#include "sdk/capture/store/capture_writer.h"

namespace frugal {

// Says what of a training is recorded, and where.
struct CaptureOptions {
  std::string directory{};  // new or empty; "": nothing is written, only its bytes are counted
  std::int64_t steps = 1;   // so many training steps from the first on, or as many as there are
  CallSelection selection{};
  std::string name{};     // of the configuration, for people
  DataSources sources{};  // data of the program's own
};

struct CapturedTraining {
  CaptureTotals totals;
  CaptureHeader header;
  std::int64_t steps = 0;
  std::string weights_hash;  // behind them: that of the same training which is not captured
};

// Trains for some steps as planned and records each call of a kernel in them: what went in and what
// came out, gradients too. What programs compute by themselves is not recorded. Evaluations are
// not, no snapshot is saved and no output written. Throws CaptureError for a plan of several
// devices and a directory that is not empty, FileError where the disk is full: then the entries
// before are whole.
CapturedTraining CaptureTraining(PlannedTraining planned, const CaptureOptions& options);

// Trains for some steps and shows `sink` each call in them; returns how many steps there were.
// Stops early where `done` is set between two steps.
struct ShownSteps {
  std::int64_t steps = 0;
  std::string weights_hash;
};
ShownSteps ShowSteps(PlannedTraining planned, DataSources sources, CallSink& sink,
                     std::int64_t steps, const bool* done = nullptr);

// Returns what the entries of a capture of this training have in common.
CaptureHeader HeaderOf(const PlannedTraining& planned, const std::string& name);

}  // namespace frugal
