// The second promise: memory policy never changes the numbers, bit for bit.
#include <filesystem>

#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

std::vector<std::pair<std::string, TrainingMemoryConfig>> Policies() {
  std::vector<std::pair<std::string, TrainingMemoryConfig>> policies;
  for (const std::int64_t every : {1, 2, 3, 6}) {
    for (const bool residual : {true, false}) {
      TrainingMemoryConfig memory;
      memory.use_gradient_checkpointing = true;
      memory.checkpoint_every_n_layers = every;
      memory.checkpoint_residual_blocks = residual;
      policies.emplace_back("every " + std::to_string(every) + (residual ? ", residual" : ""),
                            memory);
    }
  }
  TrainingMemoryConfig threshold;
  threshold.use_gradient_checkpointing = true;
  threshold.checkpoint_every_n_layers = 6;
  threshold.high_activation_memory_threshold_bytes = 4096;
  policies.emplace_back("threshold", threshold);
  TrainingMemoryConfig heap;
  heap.use_activation_pooling = false;
  heap.use_tensor_pooling = false;
  policies.emplace_back("heap", heap);
  TrainingMemoryConfig trimmed;
  trimmed.max_pool_memory_mb = 1;
  policies.emplace_back("small pool", trimmed);
  TrainingMemoryConfig own;
  own.use_shared_tensor_pool = false;
  own.tensor_pool_options = TensorPoolOptions{.use_weak_references = true};
  policies.emplace_back("own pool", own);
  TrainingMemoryConfig tracked = TrainingMemoryConfig::MemoryEfficient();
  tracked.track_memory_statistics = true;
  policies.emplace_back("tracked", tracked);
  return policies;
}

TEST_CASE("no policy changes losses, gradients, weights, statistics or masks") {
  for (const BackendKind backend : {BackendKind::kOneDnn, BackendKind::kEigen}) {
    for (const std::string& network : NetworkNames()) {
      SmallRun run;
      run.network = network;
      run.backend = backend;
      const Trained plain = Train(run);
      REQUIRE(plain.result.losses.front() != plain.result.losses.back());
      for (const auto& [name, memory] : Policies()) {
        INFO(NameOf(backend) << " " << network << " " << name);
        run.memory = memory;
        CheckSame(plain, Train(run));
      }
    }
  }
}

TEST_CASE("every preset computes the same") {
  for (const std::string& network : NetworkNames()) {
    SmallRun run;
    run.network = network;
    run.precision = Precision::kF64;
    run.backend = BackendKind::kEigen;
    const auto path = std::filesystem::temp_directory_path() / ("frugal_same_" + network);
    BuilderFor(run).Build().SaveWeights(path.string());
    const Trained plain = Train(run);
    for (const auto& [name, memory] : AllPresets(path.string())) {
      INFO(network << " " << name);
      run.memory = memory;
      CheckSame(plain, Train(run));
    }
  }
}

TEST_CASE("lazy and eager start from the same bits") {
  SmallRun run;
  run.network = "resnet";
  Model eager = BuilderFor(run).Build();
  run.memory = TrainingMemoryConfig::FastConstruction();
  Model lazy = BuilderFor(run).Build();
  for (auto at = eager.parameters().rbegin(); at != eager.parameters().rend(); ++at) {
    CHECK(eager.Values((*at)->path) == lazy.Values((*at)->path));
  }
}

TEST_CASE("zero starts trainable parameters at zero and buffers as always") {
  SmallRun run;
  run.network = "resnet";
  run.memory.default_initialization_strategy = InitializationStrategy::kZero;
  Model model = BuilderFor(run).Build();
  for (const Parameter* parameter : model.parameters()) {
    const std::vector<double> values = model.Values(parameter->path);
    const double expected = parameter->path.ends_with("running_var") ? 1.0 : 0.0;
    CHECK(values == std::vector<double>(values.size(), expected));
  }
}

TEST_CASE("the same run twice gives the same bits, another seed does not") {
  SmallRun run;
  run.network = "resnet";
  const Trained first = Train(run);
  CheckSame(first, Train(run));
  AiModelBuilder other = BuilderFor(run);
  TrainingOptions training = other.config().training;
  training.seed = 1;
  CHECK(other.Training(training).Build().Train().losses != first.result.losses);
}

TEST_CASE("a clone computes what its original does") {
  SmallRun run;
  run.network = "resnet";
  run.memory = TrainingMemoryConfig::FastConstruction();
  Model original = BuilderFor(run).Build();
  CHECK(original.live_bytes() == 0);
  Model lazy_clone = original.Clone();
  CHECK(lazy_clone.live_bytes() == 0);
  const std::vector<std::int64_t> samples = {0, 1, 2, 3};
  original.TrainStep(samples);
  Model trained_clone = original.Clone();
  CHECK(trained_clone.WeightsHash() == original.WeightsHash());
  lazy_clone.TrainStep(samples);
  CHECK(lazy_clone.WeightsHash() == original.WeightsHash());
}

TEST_CASE("a model that took what fits from a file can be cloned") {
  SmallRun run;
  run.network = "resnet";
  const auto path = std::filesystem::temp_directory_path() / "frugal_clone.safetensors";
  BuilderFor(run).Build().SaveWeights(path.string());
  run.memory =
      TrainingMemoryConfig::ForTransferLearning(path.string(), WeightsFormat::kSafetensors);
  Model original = BuilderFor(run).AllowMissingWeights().Build();
  Model clone = original.Clone();
  CHECK(clone.WeightsHash() == original.WeightsHash());
}

}  // namespace
}  // namespace frugal::testing
