// A step that fails saves what was before it, and costs nothing else.
#include "sdk/core/error.h"
#include "sdk/train/divergence.h"
#include "tests/snapshot/resumed_runs.h"
#include "tests/support/failing_file_system.h"
#include "tests/support/log_messages.h"

namespace frugal::testing {
namespace {

// The synthetic data, of which one value is no number once `broken` is set.
struct Breaking final : DataSource {
  explicit Breaking(const DataLayout& layout) : whole(SyntheticSources(layout).train) {}
  std::int64_t count() const override { return whole->count(); }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    whole->Fill(samples, inputs, targets);
    if (broken) inputs.values<float>().front() = std::numeric_limits<float>::quiet_NaN();
  }
  std::shared_ptr<const DataSource> whole;
  bool broken = false;
};

// Breaks the data behind a step.
struct Breaker final : TrainingObserver {
  Breaker(std::shared_ptr<Breaking> data, std::int64_t step) : source(std::move(data)), at(step) {}
  void OnStep(const StepProgress& progress) override { source->broken = progress.step >= at; }
  void OnEpoch(const EpochResult&) override {}
  std::shared_ptr<Breaking> source;
  std::int64_t at;
};

SmallRun RunInto(const std::string& directory) {
  SmallRun run;
  run.network = "resnet";
  run.threads = 1;
  run.max_steps = 8;
  run.snapshots = {.directory = directory, .every_n_steps = 100};
  return run;
}

// Trains on data that break behind a step, and returns the steps whose snapshots are there.
std::vector<std::int64_t> BreakBehind(std::int64_t step, const SmallRun& run) {
  const DataLayout layout = LayoutFor(run.network);
  const auto data = std::make_shared<Breaking>(layout);
  Breaker breaker(data, step);
  Model model = BuilderFor(run).Data(layout, {data, SyntheticSources(layout).test}).Build();
  CHECK_THROWS_AS(model.Train(&breaker), DivergenceError);
  std::vector<std::int64_t> steps;
  for (const SnapshotEntry& entry : ListSnapshots(*run.snapshots.directory)) {
    steps.push_back(entry.step);
  }
  return steps;
}

TEST_CASE("a step that comes to NaN saves the state of before it") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunInto(directory.File("s"));
  REQUIRE(BreakBehind(5, run) == std::vector<std::int64_t>{5});
  Model resumed = BuilderFor(run).Build();
  resumed.Resume(SnapshotPath(directory.File("s"), 5));
  const Trained rest = Train(resumed);
  run.snapshots = {};
  CheckSameCurves(Train(run), rest);
}

TEST_CASE("without on_exit a failing step saves nothing") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunInto(directory.File("s"));
  run.snapshots.on_exit = false;
  CHECK(BreakBehind(2, run).empty());
}

TEST_CASE("a disk that is full costs snapshots and a warning, not the training") {
  SmallRun run = RunInto("");
  run.snapshots = {};
  const Trained whole = Train(run);
  for (const std::size_t call : {12U, 40U, 90U}) {
    const TempDir directory(MemoryDirectory());
    run.snapshots = {.directory = directory.File("s"), .every_n_steps = 2};
    const LogMessages messages;
    FailingFileSystem files({.error = ENOSPC, .lasts = true, .call = call});
    {
      const FileSystemScope scope(files);
      CheckSameCurves(whole, Train(run));
    }
    REQUIRE_FALSE(messages.warnings().empty());
    CHECK_THAT(messages.warnings().front(),
               Catch::Contains(directory.File("s")) && Catch::Contains("the training goes on"));
    for (const SnapshotEntry& entry : ListSnapshots(directory.File("s"))) {
      CHECK_NOTHROW(VerifySnapshot(entry.path, ReadManifest(entry.path)));
    }
  }
}

TEST_CASE("snapshots beside the steps are planned to the byte, and change no number") {
  const TempDir directory(MemoryDirectory());
  for (const std::string network : {"resnet", "gpt2"}) {
    SmallRun run = RunInto("");
    run.network = network;
    run.optimizer.ema_decay = 0.9;
    run.snapshots = {};
    const Trained whole = Train(run);
    for (const bool background : {true, false}) {
      run.snapshots = {.directory = directory.File(network + (background ? "1" : "0")),
                       .every_n_steps = 1,
                       .background = background};
      const Trained trained = Train(run);
      CheckSameCurves(whole, trained);
      CheckPlanIsRun(trained.plan, trained.result, false);
      CHECK((trained.plan.peak_by_purpose[MemoryTag::kSnapshot] >
             trained.plan.peak_by_purpose[MemoryTag::kParameter]) == background);
      CHECK(trained.result.snapshots.saved == 8);
    }
  }
}

TEST_CASE("the best snapshots stay beside the last ones") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunInto("");
  run.epochs = 6;
  run.max_steps = 100;
  run.snapshots = {.directory = directory.File("s"), .keep_last = 1, .keep_best = 2};
  const Trained trained = Train(run);
  std::vector<double> losses;
  for (const Evaluation& one : trained.result.evaluations) losses.push_back(one.result.loss);
  std::ranges::sort(losses);
  const auto entries = ListSnapshots(directory.File("s"));
  std::vector<double> kept;
  for (const SnapshotEntry& entry : entries) kept.push_back(*ReadManifest(entry.path).monitored);
  CHECK(entries.back().step == trained.result.steps);
  CHECK(std::ranges::count(kept, losses[0]) == 1);
  CHECK(std::ranges::count(kept, losses[1]) == 1);
  CHECK(kept.size() <= 3);
}

}  // namespace
}  // namespace frugal::testing
