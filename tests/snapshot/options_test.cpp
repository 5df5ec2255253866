// Every value of [snapshots] does what it says.
#include "tests/snapshot/resumed_runs.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

SmallRun RunWith(const SnapshotOptions& options) {
  SmallRun run;
  run.network = "mlp";
  run.threads = 1;
  run.batch = 8;
  run.epochs = 3;
  run.max_steps = 20;  // of 24: the last epoch is not whole
  run.snapshots = options;
  return run;
}

// Returns the steps of the snapshots that a training leaves.
std::vector<std::int64_t> StepsOf(SnapshotOptions options) {
  const TempDir directory(MemoryDirectory());
  options.directory = directory.File("s");
  if (options.keep_last == SnapshotOptions().keep_last) options.keep_last = 1000;
  Train(RunWith(options));
  std::vector<std::int64_t> steps;
  for (const SnapshotEntry& entry : ListSnapshots(directory.File("s"))) {
    steps.push_back(entry.step);
  }
  return steps;
}

using Steps = std::vector<std::int64_t>;

TEST_CASE("snapshots are saved when their options say") {
  CHECK(StepsOf({}) == Steps{8, 16, 20});
  CHECK(StepsOf({.on_exit = false}) == Steps{8, 16});
  CHECK(StepsOf({.every_n_steps = 6}) == Steps{6, 12, 18, 20});
  CHECK(StepsOf({.every_n_steps = 6, .on_exit = false}) == Steps{6, 12, 18});
  CHECK(StepsOf({.every_n_steps = 6, .keep_last = 1}) == Steps{20});
  CHECK(StepsOf({.every_minutes = 1e-9, .on_exit = false}).size() == 20);
  CHECK(StepsOf({.every_minutes = 60, .on_exit = false}).empty());
  CHECK(StepsOf({.every_minutes = 60}) == Steps{20});
}

TEST_CASE("the best are those with the least or the largest of what is monitored") {
  for (const MonitorMode mode : {MonitorMode::kMin, MonitorMode::kMax}) {
    const TempDir directory(MemoryDirectory());
    SmallRun run = RunWith({.directory = directory.File("s"),
                            .keep_last = 1,
                            .keep_best = 1,
                            .monitor = "accuracy",
                            .mode = mode});
    run.network = "convnet";
    run.epochs = 6;
    run.max_steps = 48;
    const Trained trained = Train(run);
    std::vector<double> accuracies;
    for (const Evaluation& one : trained.result.evaluations) {
      accuracies.push_back(*one.result.accuracy);
    }
    const auto [least, most] = std::ranges::minmax(accuracies);
    REQUIRE(least < most);
    const double best = mode == MonitorMode::kMin ? least : most;
    std::vector<double> kept;
    for (const SnapshotEntry& entry : ListSnapshots(directory.File("s"))) {
      kept.push_back(*ReadManifest(entry.path).monitored);
    }
    CHECK(std::ranges::count(kept, best) >= 1);
    CHECK(kept.size() <= 2);
  }
}

TEST_CASE("a snapshot that is due while one is written is skipped or waited for") {
  for (const BusyPolicy policy : {BusyPolicy::kWait, BusyPolicy::kSkip}) {
    const TempDir directory(MemoryDirectory());
    FailingFileSystem slow({.sync_milliseconds = 3});  // longer than these steps
    const FileSystemScope scope(slow);
    SmallRun run = RunWith({.directory = directory.File("s"),
                            .every_n_steps = 1,
                            .keep_last = 1000,
                            .when_busy = policy});
    const TrainingResult result = Train(run).result;
    CHECK(result.snapshots.saved + result.snapshots.skipped == 20);
    CHECK((result.snapshots.skipped > 0) == (policy == BusyPolicy::kSkip));
    CHECK(ListSnapshots(directory.File("s")).back().step == 20);
  }
}

}  // namespace
}  // namespace frugal::testing
