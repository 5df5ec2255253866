#pragma once

#include "sdk/io/snapshots/snapshot_store.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"

// Trainings that go on from snapshots of others.
namespace frugal::testing {

// Two trainings came to the same curves and weights, whatever was interrupted on the way.
inline void CheckSameCurves(const Trained& a, const Trained& b) {
  CheckSame(a, b);
  CHECK(a.result.steps == b.result.steps);
  REQUIRE(a.result.epochs.size() == b.result.epochs.size());
  for (std::size_t i = 0; i < a.result.epochs.size(); ++i) {
    CHECK(a.result.epochs[i].epoch == b.result.epochs[i].epoch);
    CHECK(a.result.epochs[i].mean_loss == b.result.epochs[i].mean_loss);
    CHECK(a.result.epochs[i].test_loss == b.result.epochs[i].test_loss);
    CHECK(a.result.epochs[i].test_accuracy == b.result.epochs[i].test_accuracy);
  }
  REQUIRE(a.result.evaluations.size() == b.result.evaluations.size());
  for (std::size_t i = 0; i < a.result.evaluations.size(); ++i) {
    CHECK(a.result.evaluations[i].step == b.result.evaluations[i].step);
    CHECK(a.result.evaluations[i].result.loss == b.result.evaluations[i].result.loss);
  }
  REQUIRE(a.result.best.has_value() == b.result.best.has_value());
  if (a.result.best) CHECK(a.result.best->step == b.result.best->step);
}

// Trains with a snapshot behind every step, which all stay in `directory`.
inline Trained TrainWithSnapshots(SmallRun run, const std::string& directory) {
  run.snapshots = {.directory = directory, .every_n_steps = 1, .keep_last = 1000};
  return Train(run);
}

// Resumes from a snapshot and trains to the end.
inline Trained TrainOn(const SmallRun& run, const std::string& snapshot) {
  Model model = BuilderFor(run).Build();
  model.Resume(snapshot);
  return Train(model);
}

}  // namespace frugal::testing
