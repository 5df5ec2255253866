// A training that goes on from any of its snapshots computes what one does that nobody disturbed.
#include "sdk/core/error.h"
#include "tests/snapshot/resumed_runs.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

SmallRun RunOf(const std::string& network) {
  SmallRun run;
  run.network = network;
  run.batch = 6;  // a smaller one is the last of an epoch
  run.drop_last = false;
  run.epochs = 3;
  run.max_steps = 30;
  run.threads = 1;
  return run;
}

// Goes on from every `every`-th snapshot of a training.
void CheckResumes(const SmallRun& run, std::size_t every) {
  const TempDir directory(MemoryDirectory());
  const Trained whole = Train(run);
  CheckSameCurves(whole, TrainWithSnapshots(run, directory.File("s")));
  const std::vector<SnapshotEntry> entries = ListSnapshots(directory.File("s"));
  REQUIRE(std::ssize(entries) == whole.result.steps);
  for (std::size_t i = 0; i < entries.size(); i += every) {
    INFO("behind step " << entries[i].step);
    Trained resumed = TrainOn(run, entries[i].path);
    if (entries[i].step == whole.result.steps) resumed.gradients = whole.gradients;  // no step left
    CheckSameCurves(whole, resumed);
  }
}

TEST_CASE("a training resumed behind each of its steps comes to the same bits") {
  CheckResumes(RunOf("resnet"), 1);
}

TEST_CASE("networks and architectures resume to the same bits") {
  for (const std::string& network : NetworkNames()) {
    INFO(network);
    CheckResumes(RunOf(network), 1);
  }
  for (const std::string& network : ArchitectureNames()) {
    INFO(network);
    SmallRun run = RunOf(network);
    run.max_steps = 12;
    CheckResumes(run, 1);
  }
}

TEST_CASE("every optimizer resumes to the same bits, its state in every form") {
  for (std::size_t i = 0; i < kOptimizerKindCount; ++i) {
    SmallRun run = RunOf("mlp");
    run.max_steps = 14;
    run.optimizer.kind = static_cast<OptimizerKind>(i);
    if (run.optimizer.kind == OptimizerKind::kSgd) run.optimizer.momentum = 0.9;
    INFO(NameOf(run.optimizer.kind));
    CheckResumes(run, 1);
  }
  for (const StateFormat format : {StateFormat::kBF16, StateFormat::k8Bit}) {
    SmallRun run = RunOf("mlp");
    run.max_steps = 14;
    run.optimizer = {.lr = 0.01, .state = format, .ema_decay = 0.9};
    INFO(NameOf(format));
    CheckResumes(run, 1);
  }
}

TEST_CASE("precisions, accumulation and updates in backward resume to the same bits") {
  for (const Precision precision : {Precision::kBF16, Precision::kF64}) {
    SmallRun run = RunOf("convnet");
    run.max_steps = 14;
    run.precision = precision;
    if (precision == Precision::kF64) run.backend = BackendKind::kEigen;
    CheckResumes(run, 1);
  }
  SmallRun run = RunOf("gpt2");
  run.max_steps = 14;
  run.accumulate = 3;
  CheckResumes(run, 1);
  run.clip = 0;
  run.accumulate = 1;
  run.memory.optimizer_in_backward = true;
  CheckResumes(run, 1);
}

// A disk that is slower than the steps: updates come before a tensor is read.
TEST_CASE("what changes before it is written is written as it was") {
  FailingFileSystem slow({.open_milliseconds = 4});
  const FileSystemScope scope(slow);
  for (const char* network : {"mlp", "resnet", "gpt2"}) {
    for (const bool in_backward : {false, true}) {
      INFO(network << (in_backward ? " with updates in backward" : ""));
      SmallRun run = RunOf(network);
      run.max_steps = 8;
      run.clip = 0;
      run.memory.optimizer_in_backward = in_backward;
      run.optimizer = {.lr = 0.01, .state = StateFormat::k8Bit, .ema_decay = 0.9};
      CheckResumes(run, 1);
    }
  }
}

// Changes a weight behind the second step.
struct Changer final : TrainingObserver {
  explicit Changer(Model& changed) : model(changed) {}
  void OnStep(const StepProgress& progress) override {
    if (progress.step != 2) return;
    const std::string& path = model.parameters().front()->path;
    std::vector<double> values = model.Values(path);
    for (double& value : values) value += 1;
    model.SetValues(path, values);
  }
  void OnEpoch(const EpochResult&) override {}
  Model& model;
};

TEST_CASE("weights that a program sets while a snapshot is written are not in it") {
  const TempDir directory(MemoryDirectory());
  FailingFileSystem slow({.open_milliseconds = 4});
  const FileSystemScope scope(slow);
  SmallRun run = RunOf("mlp");
  run.max_steps = 3;
  run.snapshots = {.directory = directory.File("s"), .every_n_steps = 1, .keep_last = 9};
  Model undisturbed = BuilderFor(run).Build();
  undisturbed.Train();
  const std::string first = ListSnapshots(directory.File("s")).front().path;
  run.snapshots.directory = directory.File("t");
  Model model = BuilderFor(run).Build();
  Changer changer(model);
  model.Train(&changer);
  const std::string path = model.parameters().front()->path;
  Model one = BuilderFor(run).Build(), other = BuilderFor(run).Build();
  one.Resume(first);
  other.Resume(ListSnapshots(directory.File("t")).front().path);
  CHECK(one.WeightsHash() == other.WeightsHash());
  CHECK(one.Values(path) != model.Values(path));
}

TEST_CASE("snapshots of any preset are read under any other") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunOf("convnet");
  run.max_steps = 12;
  {
    Model model = BuilderFor(run).Build();
    model.SaveWeights(directory.File("weights"));
  }
  const Trained whole = Train(run);
  const auto presets = AllPresets(directory.File("weights"));
  for (std::size_t i = 0; i < presets.size(); ++i) {
    INFO(presets[i].first);
    run.memory = presets[i].second;
    TrainWithSnapshots(run, directory.File("s" + std::to_string(i)));
    run.memory = presets[(i + 1) % presets.size()].second;
    const auto entries = ListSnapshots(directory.File("s" + std::to_string(i)));
    CheckSameCurves(whole, TrainOn(run, entries.at(6).path));
  }
}

TEST_CASE("more epochs go on behind the end, as if there had been more from the beginning") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunOf("convnet");
  run.max_steps = 1000;
  run.epochs = 4;
  const Trained whole = Train(run);
  run.epochs = 2;
  const Trained half = TrainWithSnapshots(run, directory.File("s"));
  run.epochs = 4;
  CheckSameCurves(whole, TrainOn(run, ListSnapshots(directory.File("s")).back().path));
  CHECK(half.result.steps == 22);
}

TEST_CASE("a training within own loops is saved and resumed") {
  const TempDir directory(MemoryDirectory());
  const SmallRun run = RunOf("resnet");
  const std::vector<std::int64_t> samples = {3, 1, 4, 1, 5, 9};
  Model one = BuilderFor(run).Build();
  for (int i = 0; i < 3; ++i) one.TrainStep(samples);
  one.SaveSnapshot(directory.File("s"));
  CHECK_THROWS_AS(one.SaveSnapshot(directory.File("s")), FileError);
  Model other = BuilderFor(run).Build();
  other.Resume(directory.File("s"));
  CHECK(other.WeightsHash() == one.WeightsHash());
  for (int i = 0; i < 3; ++i) {
    CHECK(one.TrainStep(samples).loss == other.TrainStep(samples).loss);
  }
  CHECK(other.WeightsHash() == one.WeightsHash());
}

TEST_CASE("a second training of a model is resumed as the second") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunOf("convnet");
  run.max_steps = 13;
  Model whole = BuilderFor(run).Build();
  whole.Train();
  whole.SaveSnapshot(directory.File("s"));
  const TrainingResult expected = whole.Train();
  Model resumed = BuilderFor(run).Build();
  resumed.Resume(directory.File("s"));
  const TrainingResult second = resumed.Train();
  CHECK(second.losses == expected.losses);
  CHECK(second.epochs.front().epoch == expected.epochs.front().epoch);
  CHECK(second.weights_hash == expected.weights_hash);
}

TEST_CASE("what evaluations decide goes on: plateaus, the best one, patience, validation") {
  SmallRun run = RunOf("convnet");
  const TempDir directory(MemoryDirectory());
  const auto builder = [&](const std::string& snapshots) {
    AiModelBuilder made = BuilderFor(run).Override(
        {"training.evaluate_every=3", "training.metrics=[\"f1\"]", "training.best_by=f1",
         "training.patience=9", "data.validation_fraction=0.25", "schedule.kind=plateau",
         "schedule.plateau_patience=2", "schedule.step_factor=0.5"});
    if (!snapshots.empty()) {
      made.Snapshots({.directory = snapshots, .every_n_steps = 1, .keep_last = 1000});
    }
    return made;
  };
  Model whole = builder("").Build();
  const Trained expected = Train(whole);
  Model saved = builder(directory.File("s")).Build();
  CheckSameCurves(expected, Train(saved));
  for (const SnapshotEntry& entry : ListSnapshots(directory.File("s"))) {
    INFO("behind step " << entry.step);
    Model model = builder("").Build();
    model.Resume(entry.path);
    Trained resumed = Train(model);
    if (entry.step == expected.result.steps) resumed.gradients = expected.gradients;
    CheckSameCurves(expected, resumed);
    CHECK(resumed.result.stopped_early == expected.result.stopped_early);
  }
}

// Interrupts a training behind a step, as a signal does.
struct Interrupter final : TrainingObserver {
  explicit Interrupter(std::int64_t step) : at(step) {}
  void OnStep(const StepProgress& progress) override { is_there = progress.step == at; }
  void OnEpoch(const EpochResult&) override {}
  void Steer(TrainingControl& control) override {
    if (is_there) control.Interrupt();
  }
  std::int64_t at;
  bool is_there = false;
};

TEST_CASE("a training that is interrupted behind any step goes on, with all of its evaluations") {
  SmallRun run = RunOf("convnet");
  run.epochs = 2;
  run.max_steps = 1000;
  const Trained whole = Train(run);
  for (std::int64_t step = 1; step <= whole.result.steps; ++step) {
    INFO("behind step " << step);
    const TempDir directory(MemoryDirectory());
    run.snapshots = {.directory = directory.File("s"), .every_n_steps = 1000};
    Model model = BuilderFor(run).Build();
    Interrupter interrupter(step);
    const TrainingResult result = model.Train(&interrupter);
    CHECK(result.interrupted);
    CHECK(result.steps == step);
    const auto entries = ListSnapshots(directory.File("s"));
    REQUIRE(entries.size() == 1);
    REQUIRE(entries.front().step == step);
    run.snapshots = {};
    Trained resumed = TrainOn(run, entries.front().path);
    if (step == whole.result.steps) resumed.gradients = whole.gradients;
    CheckSameCurves(whole, resumed);
  }
}

TEST_CASE("a model trains again into the directory that it has") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunOf("mlp");
  run.epochs = 1;
  run.snapshots = {.directory = directory.File("s"), .keep_last = 100};
  Model model = BuilderFor(run).Build();
  model.Train();
  model.Train();
  CHECK(ListSnapshots(directory.File("s")).size() == 2);
  Model other = BuilderFor(run).Build();
  CHECK_THROWS_AS(other.Train(), ConfigError);
  CHECK(ListSnapshots(directory.File("s")).size() == 2);
  other.Resume(ListSnapshots(directory.File("s")).front().path);
  CHECK_THROWS_WITH(other.Train(), Catch::Contains("branches off"));
  Model replacing = BuilderFor(run).Build();
  replacing.Train(nullptr, {.replaces_snapshots = true});
  CHECK(ListSnapshots(directory.File("s")).size() == 1);
}

TEST_CASE("a model that was trained takes all of a snapshot, and nothing stays of before") {
  const TempDir directory(MemoryDirectory());
  SmallRun run = RunOf("resnet");
  run.optimizer.ema_decay = 0.9;
  Model fresh = BuilderFor(run).Build();
  fresh.SaveSnapshot(directory.File("s"));
  const Trained expected = Train(fresh);
  Model used = BuilderFor(run).Build();
  used.Train();
  {
    const Model::EmaScope average(used);
    CHECK_THROWS_AS(used.Resume(directory.File("s")), UsageError);
    CHECK_THROWS_AS(used.SaveSnapshot(directory.File("t")), UsageError);
  }
  used.Resume(directory.File("s"));
  CheckSameCurves(expected, Train(used));
}

TEST_CASE("other data than before are refused") {
  const TempDir directory(MemoryDirectory());
  const SmallRun run = RunOf("mlp");
  Model model = BuilderFor(run).Build();
  model.SaveSnapshot(directory.File("s"));
  DataLayout fewer = LayoutFor(run.network);
  fewer.train_count -= 6;
  Model other = BuilderFor(run).Data(fewer, SyntheticSources(fewer)).Build();
  CHECK_THROWS_WITH(other.Resume(directory.File("s")),
                    Catch::Contains("58 training samples, and 64 before"));
}

}  // namespace
}  // namespace frugal::testing
