// Copies of models.
#include "builders/plan/planner.h"
#include "builders/setup/network_builder.h"
#include "layers/dense.h"
#include "layers/simple_layers.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

const std::vector<std::int64_t> kSamples = {0, 1, 2, 3, 4, 5, 6, 7};

// A model whose network is not the one that its configuration describes.
Model ModelOfOtherNetwork(const SmallRun& run, std::int64_t hidden) {
  const AiModelBuilder builder = BuilderFor(run);
  const DataLayout layout = LayoutFor(run.network);
  TrainingSetup setup = PrepareTraining(builder.config(), &layout);
  auto network = std::make_unique<Sequential>();
  network->Append("0", std::make_unique<FlattenLayer>());
  network->Append("1", std::make_unique<Dense>(128, DenseOptions{.units = hidden}));
  network->Append("2", std::make_unique<Dense>(hidden, DenseOptions{.units = 5}));
  network->AssignPaths("");
  setup.parameters = NumberParameters(*network);
  setup.network = std::move(network);
  return Model(PlanTraining(std::move(setup)), SyntheticSources(layout));
}

TEST_CASE("a model whose network was replaced is not cloned, but refused", "[clone]") {
  SmallRun run;
  run.network = "convnet";
  Model model = ModelOfOtherNetwork(run, 16);
  model.TrainStep(kSamples);
  const std::string message = MessageOf<UsageError>([&] { model.Clone(); });
  CheckContains(message, "[Model::Clone] the network is the one that the configuration builds");
  CheckContains(message, "by SaveWeights and LoadWeights");
}

TEST_CASE("a clone has the plan of its original, segments included", "[clone]") {
  for (const auto& [name, memory] : std::vector<std::pair<std::string, TrainingMemoryConfig>>{
           {"MemoryEfficient", TrainingMemoryConfig::MemoryEfficient()},
           {"ForTransformers", TrainingMemoryConfig::ForTransformers()}}) {
    INFO(name);
    SmallRun run;
    run.network = "gpt2";
    run.memory = memory;
    Model original = BuilderFor(run).Build();
    Model clone = original.Clone();
    CHECK(clone.plan().arena_bytes == original.plan().arena_bytes);
    CheckPlanIsRun(clone.plan(), clone.Train(), memory.use_activation_pooling);
    original.Train();
    CHECK(clone.WeightsHash() == original.WeightsHash());
  }
}

TEST_CASE("a clone takes no memory but that of its values", "[clone]") {
  SmallRun run;
  run.network = "resnet";
  run.precision = Precision::kF64;
  run.backend = BackendKind::kEigen;
  Model original = BuilderFor(run).Build();
  original.TrainStep(kSamples);
  Model clone = original.Clone();
  std::int64_t values = 0;
  for (const Parameter* parameter : original.parameters()) {
    values += RoundUpToAlignment(parameter->shape.ElementCount() * 8);
    CHECK(clone.Values(parameter->path) == original.Values(parameter->path));
  }
  CHECK(clone.live_bytes() == values);
}

TEST_CASE("a clone that is made while weights are their averages trains from the weights",
          "[clone]") {
  SmallRun run;
  run.network = "mlp";
  run.optimizer.ema_decay = 0.9;
  Model original = BuilderFor(run).Build();
  for (int i = 0; i < 3; ++i) original.TrainStep(kSamples);
  const std::string path = original.parameters().front()->path;
  const std::vector<double> weights = original.Values(path);
  const auto during = [&] {
    const Model::EmaScope average(original);
    CHECK(original.Values(path) != weights);
    return original.Clone();
  };
  Model clone = during();
  CHECK(clone.Values(path) == weights);
  CHECK(clone.WeightsHash() == original.WeightsHash());  // of the averages
}

}  // namespace
}  // namespace frugal::testing
