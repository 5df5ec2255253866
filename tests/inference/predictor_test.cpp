// Threads share a predictor.
#include "builders/inference/predictor.h"

#include <atomic>
#include <thread>

#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

std::vector<float> Values(const DataLayout& layout, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count * layout.sample_shape.ElementCount()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i * 37 % 101) / 101;
  return values;
}

// Samples [begin, begin + count).
std::span<const float> Part(const std::vector<float>& all, const DataLayout& layout,
                            std::int64_t begin, std::int64_t count) {
  const auto each = static_cast<std::size_t>(layout.sample_shape.ElementCount());
  return std::span(all).subspan(static_cast<std::size_t>(begin) * each,
                                static_cast<std::size_t>(count) * each);
}

void CheckPlanIsRun(const Predictor& predictor) {
  const PredictorPlan &planned = predictor.plan(), measured = predictor.Measured();
  CHECK(measured.weight_bytes == planned.weight_bytes);
  CHECK(measured.slot_bytes == planned.slot_bytes);
  CHECK(measured.peak_bytes == planned.peak_bytes);
}

TEST_CASE("threads that share a predictor get the bits of a model", "[predictor]") {
  const std::string network = GENERATE("resnet", "recurrent", "vit");
  const Precision precision = GENERATE(Precision::kF32, Precision::kBF16);
  INFO(network);
  SmallRun run;
  run.network = network;
  run.precision = precision;
  run.threads = 1;
  Model model = BuilderFor(run).Build();
  model.Train();
  const Predictor predictor(model, {.slots = 3, .batch = 4});
  Model expected_by = model.ForInference(4);
  const std::vector<float> inputs = Values(model.layout(), 16);
  std::vector<std::vector<float>> expected;  // of counts 0, 1, ...
  for (std::int64_t count = 0; count <= 16; ++count) {
    expected.push_back(count == 0
                           ? std::vector<float>()
                           : expected_by.Predict(Part(inputs, model.layout(), 0, count), count));
  }
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 5; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 16; ++i) {
          const std::int64_t count = 1 + (i * 7 + thread * 3) % 16;
          const auto outputs = predictor.Predict(Part(inputs, predictor.layout(), 0, count), count);
          wrong += outputs != expected[static_cast<std::size_t>(count)];
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(predictor.plan().slots == 3);
}

TEST_CASE("a predictor's plan is its run, for every number of slots and preset", "[predictor]") {
  const TempDir directory;
  BuilderFor({.network = "convnet", .memory = {}}).Build().SaveWeights(directory.File("w"));
  for (const auto& [name, memory] : AllPresets(directory.File("w"))) {
    INFO(name);
    Model model = BuilderFor({.network = "convnet", .memory = memory}).Build();
    for (const std::int64_t slots : {1, 2, 5}) {
      const Predictor predictor(model, {.slots = slots, .batch = 6});
      const std::vector<float> inputs = Values(model.layout(), 6);
      std::atomic<std::int64_t> waiting = slots;
      {
        std::vector<std::jthread> threads;
        for (std::int64_t i = 0; i < slots; ++i) {
          threads.emplace_back([&] {
            // All of them at once, so that each slot is used.
            --waiting;
            while (waiting > 0) std::this_thread::yield();
            for (int round = 0; round < 20; ++round) predictor.Predict(inputs, 6);
          });
        }
      }
      const PredictorPlan &planned = predictor.plan(), measured = predictor.Measured();
      CHECK(measured.weight_bytes == planned.weight_bytes);
      CHECK(measured.slot_bytes == planned.slot_bytes);
      CHECK(measured.peak_bytes <= planned.peak_bytes);
      if (slots == 1) CheckPlanIsRun(predictor);
    }
  }
}

TEST_CASE("a predictor of a file has the weights once, and of a model its averages",
          "[predictor]") {
  const TempDir directory;
  SmallRun run;
  run.network = "mlp";
  run.threads = 2;
  run.optimizer = {.lr = 0.05, .ema_decay = 0.9};
  Model model = BuilderFor(run).Build();
  model.Train();
  model.SaveWeights(directory.File("w"));
  const Predictor file = Predictor::FromFile(directory.File("w"), {.slots = 2, .threads = 2});
  const Predictor copy(model, {.slots = 2, .threads = 2});
  const std::vector<float> inputs = Values(model.layout(), 3);
  const std::vector<float> expected = model.Predict(inputs, 3);
  CHECK(file.Predict(inputs, 3) == expected);
  CHECK(copy.Predict(inputs, 3) == expected);
  std::int64_t bytes = 0;
  for (const Parameter* parameter : model.parameters()) {
    bytes += RoundUpToAlignment(parameter->shape.ElementCount() * 4);
  }
  CHECK(file.plan().weight_bytes == bytes);
  CHECK(copy.plan().weight_bytes == bytes);
  model.TrainStep(std::vector<std::int64_t>{0, 1, 2});  // moves the model's weights, no others
  CHECK(copy.Predict(inputs, 3) == expected);
}

TEST_CASE("predictors take tokens, and refuse as models do", "[predictor]") {
  Model model = BuilderFor({.network = "gpt2", .memory = {}, .threads = 1}).Build();
  const Predictor predictor(model, {.slots = 1});
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(2 * model.layout().sample_shape[0]), 3);
  CHECK(predictor.PredictTokens(tokens, 2) == model.PredictTokens(tokens, 2));
  CheckContains(MessageOf<UsageError>([&] { predictor.Predict({}, 1); }),
                "[Predictor::Predict] the model's inputs are token numbers");
  tokens[1] = -1;
  CheckContains(MessageOf<UsageError>([&] { predictor.PredictTokens(tokens, 2); }),
                "[Predictor::PredictTokens] tokens lie in");
  CheckContains(MessageOf<UsageError>([&] { Predictor(model, {.threads = 0}); }),
                "1,024 threads of a call; 0 slots of 0 threads");
  CHECK(predictor.PredictTokens(std::vector<std::int64_t>(tokens.size(), 3), 2).size() > 0);
}

TEST_CASE("a model computes with its own number of threads, wherever it is used", "[predictor]") {
  SmallRun run;
  run.network = "convnet";
  run.threads = 1;
  run.batch = 32;
  Model alone = BuilderFor(run).Build();
  const std::string expected = alone.Train().weights_hash;
  const std::vector<float> inputs = Values(alone.layout(), 8);
  const std::vector<float> outputs = alone.Predict(inputs, 8);
  Model one = BuilderFor(run).Build();
  run.threads = 3;
  Model three = BuilderFor(run).Build();
  std::string hash;
  std::vector<float> elsewhere;
  std::jthread([&] {
    hash = one.Train().weights_hash;
    elsewhere = one.Predict(inputs, 8);
  }).join();
  CHECK(hash == expected);
  CHECK(elsewhere == outputs);
  CHECK(three.Predict(inputs, 8).size() == outputs.size());
}

// Uses a model while it trains, within a step.
struct UsesModel final : DataSource {
  std::shared_ptr<const DataSource> inner;
  std::function<void()> use;
  std::int64_t count() const override { return inner->count(); }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    if (use) use();
    inner->Fill(samples, inputs, targets);
  }
};

TEST_CASE("a model that trains predicts between its steps, and within one it says no",
          "[predictor]") {
  SmallRun run;
  run.network = "mlp";
  const DataLayout layout = LayoutFor(run.network);
  const std::string alone = BuilderFor(run).Build().Train().weights_hash;
  const std::vector<float> inputs = Values(layout, 2);
  SECTION("an observer") {
    struct Watcher : TrainingObserver {
      void OnStep(const StepProgress&) override { outputs += model->Predict(*inputs, 2).size(); }
      void OnEpoch(const EpochResult&) override {}
      Model* model = nullptr;
      const std::vector<float>* inputs = nullptr;
      std::size_t outputs = 0;
    } watcher;
    Model model = BuilderFor(run).Build();
    watcher.model = &model;
    watcher.inputs = &inputs;
    CHECK(model.Train(&watcher).weights_hash == alone);
    CHECK(watcher.outputs == 4 * 10);
  }
  SECTION("a source") {
    run.memory.use_activation_pooling = GENERATE(true, false);
    const auto source = std::make_shared<UsesModel>();
    source->inner = SyntheticSources(layout).train;
    AiModelBuilder builder = BuilderFor(run);
    builder.Data(layout, {source, SyntheticSources(layout).test});
    Model model = builder.Build();
    source->use = [&] { model.Predict(inputs, 2); };
    CheckContains(MessageOf<UsageError>([&] { model.Train(); }),
                  "[Model] a step ends before another one begins; a data source, a layer, a loss "
                  "or a metric uses the model within one of its steps; use a Predictor there");
    source->use = nullptr;
    model.TrainStep(std::vector<std::int64_t>{0, 1});  // and it goes on
  }
  SECTION("another thread") {
    const auto source = std::make_shared<UsesModel>();
    source->inner = SyntheticSources(layout).train;
    AiModelBuilder builder = BuilderFor(run);
    builder.Data(layout, {source, SyntheticSources(layout).test});
    Model model = builder.Build();
    std::string message;
    source->use = [&] {
      std::jthread([&] { message = MessageOf<UsageError>([&] { model.Predict(inputs, 2); }); });
    };
    model.Train();
    CheckContains(message, "another one is using it; let threads that predict share a Predictor");
  }
}

}  // namespace
}  // namespace frugal::testing
