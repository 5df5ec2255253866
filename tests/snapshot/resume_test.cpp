// A training that goes on from any of its snapshots computes what one does that nobody disturbed.
#include "sdk/core/error.h"
#include "tests/snapshot/resumed_runs.h"

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
    CheckResumes(RunOf(network), 7);
  }
  for (const std::string& network : ArchitectureNames()) {
    INFO(network);
    SmallRun run = RunOf(network);
    run.max_steps = 12;
    CheckResumes(run, 5);
  }
}

TEST_CASE("every optimizer resumes to the same bits, its state in every form") {
  for (std::size_t i = 0; i < kOptimizerKindCount; ++i) {
    SmallRun run = RunOf("mlp");
    run.max_steps = 14;
    run.optimizer.kind = static_cast<OptimizerKind>(i);
    if (run.optimizer.kind == OptimizerKind::kSgd) run.optimizer.momentum = 0.9;
    INFO(NameOf(run.optimizer.kind));
    CheckResumes(run, 6);
  }
  for (const StateFormat format : {StateFormat::kBF16, StateFormat::k8Bit}) {
    SmallRun run = RunOf("mlp");
    run.max_steps = 14;
    run.optimizer = {.lr = 0.01, .state = format, .ema_decay = 0.9};
    INFO(NameOf(format));
    CheckResumes(run, 6);
  }
}

TEST_CASE("precisions, accumulation and updates in backward resume to the same bits") {
  for (const Precision precision : {Precision::kBF16, Precision::kF64}) {
    SmallRun run = RunOf("convnet");
    run.max_steps = 14;
    run.precision = precision;
    if (precision == Precision::kF64) run.backend = BackendKind::kEigen;
    CheckResumes(run, 6);
  }
  SmallRun run = RunOf("gpt2");
  run.max_steps = 14;
  run.accumulate = 3;
  CheckResumes(run, 6);
  run.clip = 0;
  run.accumulate = 1;
  run.memory.optimizer_in_backward = true;
  CheckResumes(run, 6);
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

}  // namespace
}  // namespace frugal::testing
