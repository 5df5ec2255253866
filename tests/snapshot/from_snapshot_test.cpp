// Models, weights and logs that are made of snapshots alone.
#include "builders/report/training_log.h"
#include "builders/snapshot/export_weights.h"
#include "builders/snapshot/find_snapshot.h"
#include "sdk/core/error.h"
#include "tests/samples/tiny_config.h"
#include "tests/snapshot/resumed_runs.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

// A training of the tiny data whose configuration is a file.
AiModelBuilder TinyIn(const TempDir& directory, const std::vector<std::string>& overrides) {
  WriteTinyData(directory);
  std::vector<std::string> all = overrides;
  for (const char* part : {"train", "test"}) {
    for (const char* kind : {"images", "labels"}) {
      const std::string name = std::string(part) + "_" + kind;
      all.push_back("data." + name + "=" + directory.File(name + ".idx"));
    }
  }
  return AiModelBuilder::FromToml(directory.Write("tiny.toml", kTinyConfig), all);
}

TEST_CASE("a snapshot alone makes the model that goes on") {
  const TempDir directory(MemoryDirectory());
  const std::string all = "snapshots.directory=" + directory.File("s");
  Model half = TinyIn(directory, {"training.epochs=3", all}).Build();
  half.Train();
  Model whole = TinyIn(directory, {"training.epochs=7"}).Build();
  const TrainingResult expected = whole.Train();
  const std::string last = *FindLastSnapshot(directory.File("s"));
  Model rest = Model::FromSnapshot(last, {"training.epochs=7"});
  CHECK(rest.resumed_steps() == 6);
  const TrainingResult result = rest.Train();
  CHECK(result.losses == expected.losses);
  CHECK(result.weights_hash == expected.weights_hash);
  CHECK(result.test_loss == expected.test_loss);
}

TEST_CASE("weights are exported as the model saves them, averages too") {
  for (const char* ema : {"0", "0.9"}) {
    const TempDir directory(MemoryDirectory());
    Model model = TinyIn(directory, {"snapshots.directory=" + directory.File("s"),
                                     "optimizer.ema_decay=" + std::string(ema)})
                      .Build();
    model.Train();
    const Snapshot snapshot = OpenSnapshot(*FindLastSnapshot(directory.File("s")));
    for (const std::string ending : {".safetensors", ".bin", ".json"}) {
      model.SaveWeights(directory.File("saved" + ending));
      ExportWeights(snapshot, directory.File("exported" + ending));
      CHECK(ReadAll(directory.File("saved" + ending)) ==
            ReadAll(directory.File("exported" + ending)));
    }
  }
}

TEST_CASE("a network that a function makes is resumed by its program alone") {
  const TempDir directory(MemoryDirectory());
  SmallRun run;
  run.network = "mlp";
  Model model = BuilderFor(run)
                    .Layers([](LayerList& l) {
                      l.Flatten().Custom("own", [](const Shape& in) {
                        return std::make_unique<Dense>(in.back(), DenseOptions{.units = 5});
                      });
                    })
                    .Build();
  model.SaveSnapshot(directory.File("s"));
  CHECK_THROWS_WITH(Model::FromSnapshot(directory.File("s")), Contains("Model::Resume"));
  CHECK_THROWS_WITH(BuilderFor(run).Build().Resume(directory.File("s")),
                    Contains("exactly the network's parameters") && Contains("unexpected: own"));
}

TEST_CASE("values that change numbers are refused by name, others taken") {
  const TempDir directory(MemoryDirectory());
  SmallRun run;
  run.network = "convnet";
  Model model = BuilderFor(run).Build();
  model.TrainStep(std::vector<std::int64_t>{1, 2});
  model.SaveSnapshot(directory.File("s"));
  const auto resume = [&](const std::string& change) {
    BuilderFor(run).Override({change}).Build().Resume(directory.File("s"));
  };
  for (const std::string change :
       {"optimizer.lr=0.5", "optimizer.kind=sgd", "training.seed=7", "training.batch_size=4",
        "training.precision=bf16", "loss.label_smoothing=0.1", "data.shuffle=false",
        "schedule.kind=cosine", "training.gradient_accumulation_steps=2",
        "training.clip_gradient_norm=2.0", "training.frozen=[\"4\"]"}) {
    INFO(change);
    CHECK_THROWS_WITH(resume(change), Contains("these are others"));
  }
  for (const std::string change :
       {"training.epochs=9", "training.max_steps=99", "memory.use_gradient_checkpointing=true",
        "memory.num_devices=2", "training.evaluate_every=2", "training.metrics=[\"f1\"]",
        "output.weights=w.safetensors", "snapshots.keep_last=5", "model.name=other",
        "sharding.bucket_kb=1"}) {
    INFO(change);
    if (change.starts_with("snapshots.")) continue;  // it would need a directory
    CHECK_NOTHROW(resume(change));
  }
}

TEST_CASE("a log goes on behind the snapshot's step, and has each step once") {
  for (const std::string name : {"log.csv", "log.jsonl"}) {
    const TempDir directory(MemoryDirectory());
    const std::string path = directory.File(name);
    const auto write = [&](std::int64_t before, std::int64_t first, std::int64_t last) {
      TrainingLog log(path, {}, {.steps = before, .evaluations = 1});
      for (std::int64_t step = first; step <= last; ++step) {
        log.OnStep({.step = step, .epoch = 1, .loss = static_cast<double>(step)});
        Evaluation evaluation;
        evaluation.step = step;
        log.OnEvaluation(evaluation);
      }
    };
    write(0, 1, 9);
    const std::string whole = ReadAll(path);
    write(0, 1, 7);
    directory.Write(name, ReadAll(path) + "step,8,1,cut sho");
    write(5, 6, 9);
    CHECK(ReadAll(path) == whole);
    write(0, 1, 9);
    CHECK(ReadAll(path) == whole);
  }
}

}  // namespace
}  // namespace frugal::testing
