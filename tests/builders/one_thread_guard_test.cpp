// One thread uses a model at a time.
#include "builders/run/one_thread_guard.h"

#include <atomic>
#include <cmath>
#include <future>
#include <latch>
#include <thread>

#include "builders/execute/step_layouts.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

const std::string kRefusal = "one thread uses a model at a time; another one is using it";

// Data that wait inside of a step, so that another thread can try meanwhile.
class WaitingData final : public DataSource {
 public:
  WaitingData(std::shared_ptr<const DataSource> inner, std::latch& entered, std::latch& leave)
      : inner_(std::move(inner)), entered_(entered), leave_(leave) {}

  std::int64_t count() const override { return inner_->count(); }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    entered_.count_down();
    leave_.wait();
    inner_->Fill(samples, inputs, targets);
  }

 private:
  std::shared_ptr<const DataSource> inner_;
  std::latch& entered_;
  std::latch& leave_;
};

TEST_CASE("while a thread uses a model, others are refused in every call", "[one_thread_guard]") {
  SmallRun run;
  run.network = "mlp";
  const DataLayout layout = LayoutFor(run.network);
  const DataSources inner = SyntheticSources(layout);
  std::latch entered(1), leave(1);
  AiModelBuilder builder = BuilderFor(run);
  builder.Data(layout, {std::make_shared<WaitingData>(inner.train, entered, leave), inner.test});
  Model model = builder.Build();
  const std::vector<std::int64_t> samples = {0, 1, 2, 3};
  auto step = std::async(std::launch::async, [&] { return model.TrainStep(samples).loss; });
  entered.wait();
  const auto refused = [&](const std::string& where, auto use) {
    INFO(where);
    const std::string message = MessageOf<UsageError>([&] { use(); });
    CheckContains(message, "[Model::" + where + "] " + kRefusal);
    CheckContains(message, "Model::Clone");
  };
  refused("Train", [&] { model.Train(); });
  refused("TrainStep", [&] { model.TrainStep(samples); });
  refused("Evaluate", [&] { model.Evaluate(); });
  refused("Predict", [&] { model.Predict(std::vector<float>(128), 1); });
  refused("PredictInputs", [&] { model.PredictInputs({}, 1); });
  refused("PredictTokens", [&] { model.PredictTokens({}, 1); });
  refused("Generate", [&] { model.Generate({}, {}); });
  refused("Values", [&] { model.Values("nothing"); });
  refused("LastGradient", [&] { model.LastGradient("nothing"); });
  refused("SaveWeights", [&] { model.SaveWeights("nowhere"); });
  refused("LoadWeights", [&] { model.LoadWeights("nowhere"); });
  refused("WeightsHash", [&] { model.WeightsHash(); });
  refused("Clone", [&] { model.Clone(); });
  refused("live_bytes", [&] { model.live_bytes(); });
  refused("Measured", [&] { model.Measured(); });
  refused("EmaScope", [&] { const Model::EmaScope average(model); });
  leave.count_down();
  CHECK(std::isfinite(step.get()));
  CHECK(model.live_bytes() > 0);  // free again
}

TEST_CASE("threads that try at once are served or refused, one by one", "[one_thread_guard]") {
  SmallRun run;
  run.network = "mlp";
  Model model = BuilderFor(run).Build();
  const std::vector<float> input(128, 0.25F);
  const std::vector<float> expected = model.Predict(input, 1);
  std::atomic<int> served = 0, wrong = 0;
  std::latch ready(4);
  const auto try_often = [&] {
    ready.arrive_and_wait();
    for (int i = 0; i < 200; ++i) {
      try {
        wrong += model.Predict(input, 1) != expected;
        ++served;
      } catch (const UsageError& error) {
        wrong += std::string(error.what()).find(kRefusal) == std::string::npos;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(try_often);
  }
  CHECK(served > 0);
  CHECK(wrong == 0);
}

TEST_CASE("threads with a model each share the pool of the process", "[one_thread_guard]") {
  SmallRun run;
  run.network = "resnet";
  run.memory.use_tensor_pooling = run.memory.use_shared_tensor_pool = true;
  const std::string expected = BuilderFor(run).Build().Train().weights_hash;
  std::vector<std::future<std::string>> hashes;
  for (int i = 0; i < 4; ++i) {
    hashes.push_back(std::async(std::launch::async,
                                [&run] { return BuilderFor(run).Build().Train().weights_hash; }));
  }
  for (auto& hash : hashes) CHECK(hash.get() == expected);
}

// An observer of a training asks the model from the thread that trains.
TEST_CASE("the thread that trains a model may use it inside", "[one_thread_guard]") {
  struct Watcher : TrainingObserver {
    void OnStep(const StepProgress&) override {}
    void OnEpoch(const EpochResult&) override { hash = model->WeightsHash(); }
    Model* model = nullptr;
    std::string hash;
  };
  SmallRun run;
  run.network = "mlp";
  Model model = BuilderFor(run).Build();
  Watcher watcher;
  watcher.model = &model;
  CHECK(model.Train(&watcher).weights_hash == watcher.hash);
}

TEST_CASE("of steps that are not in the plan, the last used are kept", "[one_thread_guard]") {
  StepLayouts layouts;
  int made = 0;
  const auto of = [&](std::int64_t batch) {
    return layouts.Of(StepKind::kPredict, batch, [&] {
      ++made;
      ArenaLayout layout;
      layout.arena_bytes = batch;
      return layout;
    });
  };
  const auto most = static_cast<std::int64_t>(StepLayouts::kMost);
  for (std::int64_t batch = 1; batch <= most; ++batch) CHECK(of(batch)->arena_bytes == batch);
  CHECK(of(1)->arena_bytes == 1);
  CHECK(made == most);
  const StepLayouts::Layout held = of(2);
  for (std::int64_t batch = most + 1; batch <= 3 * most; ++batch) of(batch);
  CHECK(layouts.size() == StepLayouts::kMost);
  CHECK(held->arena_bytes == 2);  // whoever uses one keeps it
  of(3 * most);
  CHECK(made == 3 * most);
  of(1);
  CHECK(made == 3 * most + 1);
}

TEST_CASE("a model predicts in more batch sizes than it keeps plans of", "[one_thread_guard]") {
  SmallRun run;
  run.network = "mlp";
  Model model = BuilderFor(run).Build();
  const std::vector<float> inputs(128 * 40, 0.25F);
  const std::vector<float> one = model.Predict(std::span(inputs).first(128), 1);
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t count = 1; count <= 40; ++count) {
      const auto size = static_cast<std::size_t>(128 * count);
      CHECK(model.Predict(std::span(inputs).first(size), count).size() ==
            static_cast<std::size_t>(5 * count));
    }
  }
  CHECK(model.Predict(std::span(inputs).first(128), 1) == one);
}

}  // namespace
}  // namespace frugal::testing
