// Models cost nothing before they are used, and give back everything when they are gone.
#include "builders/dry_run/dry_training.h"
#include "builders/execute/memory_stack.h"
#include "builders/plan/published_models.h"
#include "builders/setup/nominal_layout.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"
#include "tests/skip.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

AiModelBuilder WideBuilder() {
  AiModelBuilder builder;
  const DataLayout layout = SyntheticLayout();
  builder.Memory(TrainingMemoryConfig::FastConstruction()).Data(layout, SyntheticSources(layout));
  builder.Layers([](LayerList& l) {
    l.Flatten();
    for (int i = 0; i < 4; ++i) l.Dense({.units = 40000});  // 4.8 billion weights
    l.Dense({.units = 5});
  });
  return builder;
}

TEST_CASE("planning, counting and describing a huge model take no memory") {
  const std::int64_t before = ResidentBytes();
  const PlannedTraining planned = WideBuilder().Plan();
  CHECK(planned.plan.parameter_count ==
        128LL * 40000 + 3LL * 40000 * 40000 + 4LL * 40000 + 40000LL * 5 + 5);
  CHECK(planned.plan.peak_by_purpose[MemoryTag::kParameter] > 19'000'000'000);
  CHECK_FALSE(planned.network->Describe().empty());
  CHECK(ResidentBytes() - before < (std::int64_t{64} << 20));
}

TEST_CASE("constructing with FastConstruction allocates no parameter bytes") {
  Model model = WideBuilder().Build();
  CHECK(model.live_bytes() == 0);
  CHECK(model.ParameterCount() > 4'000'000'000);
  CHECK(model.live_bytes() == 0);
}

TEST_CASE("parameters materialize one by one as they are touched") {
  SmallRun run;
  run.network = "mlp";
  run.memory = TrainingMemoryConfig::FastConstruction();
  Model model = BuilderFor(run).Build();
  std::int64_t expected = 0;
  for (const Parameter* parameter : model.parameters()) {
    CHECK(model.live_bytes() == expected);
    model.Values(parameter->path);
    expected += RoundUpToAlignment(parameter->shape.ElementCount() * 4);
  }
  CHECK(model.live_bytes() == expected);
}

std::int64_t ParameterBytes(Module& module) {
  std::int64_t bytes = 0;
  module.VisitParameters([&](const Parameter& parameter) {
    bytes += RoundUpToAlignment(parameter.shape.ElementCount() * 4);
  });
  return bytes;
}

DitConfig SmallDit() {
  return {.input_size = 8,
          .in_channels = 2,
          .hidden_size = 8,
          .depth = 2,
          .num_heads = 2,
          .num_classes = 5,
          .learn_sigma = false};
}

TEST_CASE("a pass materializes the parameters of the layers that it has reached") {
  const auto network = BuildArchitecture(SmallDit());
  const auto backend = MakeBackend(BackendKind::kEigen);
  DryEnvironment environment(*backend, DType::kF32);
  VarTuple vars = InputsOf(network->inputs(), 2, DType::kF32, environment.context());
  std::int64_t expected = 0;
  for (std::size_t i = 0; i < network->size(); ++i) {
    CHECK(environment.ledger().live()[MemoryTag::kParameter] == expected);
    network->layer(i)(environment.context(), vars);
    expected += ParameterBytes(network->layer(i));
  }
  CHECK(environment.ledger().live()[MemoryTag::kParameter] == expected);
}

// A training of a diffusion transformer, with its time and class beside the image.
AiModelBuilder DitBuilder() {
  DataLayout layout = NominalLayoutOf(SmallDit(), *BuildArchitecture(SmallDit())).layout;
  layout.target_shape = layout.sample_shape;
  layout.train_count = 16;
  layout.test_count = 16;
  TrainingOptions training;
  training.batch_size = 4;
  training.evaluation_batch_size = 4;
  training.max_steps = 1;
  AiModelBuilder builder;
  builder.Architecture(SmallDit()).Loss({.kind = LossKind::kMse}).Training(training);
  builder.Data(layout, SyntheticSources(layout));
  return builder;
}

TEST_CASE("a clone of a lazy model is lazy, and gets the same values later") {
  Model original = DitBuilder().Memory(TrainingMemoryConfig::FastConstruction()).Build();
  original.Values(original.parameters()[3]->path);
  Model clone = original.Clone();
  CHECK(clone.ParameterCount() == original.ParameterCount());
  CHECK(clone.live_bytes() == original.live_bytes());  // of the one that was touched
  for (const Parameter* parameter : original.parameters()) {
    INFO(parameter->path);
    CHECK(clone.Values(parameter->path) == original.Values(parameter->path));
  }
  const std::vector<std::int64_t> samples = {0, 1, 2, 3};
  CHECK(clone.TrainStep(samples).loss == original.TrainStep(samples).loss);
  CHECK(clone.WeightsHash() == original.WeightsHash());
}

// Model number `i` of many: the published ones in turn, in other batches, once under each policy
// and then under the one that is planned fastest.
PlannedTraining VariedModel(std::size_t i) {
  const std::vector<std::string> names = NamedModels();
  const std::vector<std::string> policies = {"FastConstruction", "ForTransformers",
                                             "MemoryEfficient", "ForConvNets"};
  const std::size_t round = i / names.size();
  const std::string& policy = policies[round < policies.size() ? round : 0];
  return PlanNamedModel(names[i % names.size()],
                        {"memory.preset=" + policy, "memory.default_initialization_strategy=Lazy",
                         "memory.max_pool_memory_mb=10000000",
                         "training.batch_size=" + std::to_string(1 + round % 5)});
}

TEST_CASE("three hundred published models are built, counted, described and gone") {
  const std::size_t first_round = NamedModels().size();
  std::int64_t resident = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    Model model(VariedModel(i));
    INFO(i << " " << model.config().model.name);
    CHECK(model.ParameterCount() > 1'000'000);
    CHECK(model.network().ParameterCount() == model.ParameterCount());
    for (std::size_t layer = 0; layer < model.network().size(); ++layer) {
      REQUIRE_FALSE(model.network().layer(layer).Describe().empty());
    }
    REQUIRE(model.live_bytes() == 0);
    // The heap may keep what the largest search of segments took, but nothing may be in use.
    if (i == first_round || i + 1 == 300) ReturnFreeMemory();
    if (i == first_round) resident = ResidentBytes();
  }
  CHECK(SharedTensorPool().statistics().live_bytes == 0);
  if (!testing::kIsSanitized) CHECK(ResidentBytes() - resident < (std::int64_t{8} << 20));
}

// Every kind of small model in turn, trained for a step.
void TrainVaried(std::size_t i) {
  std::vector<std::string> names = NetworkNames();
  for (const std::string& name : ArchitectureNames()) names.push_back(name);
  if (i % (names.size() + 1) == names.size()) {
    DitBuilder().Build().Train();
    return;
  }
  SmallRun run;
  run.network = names[i % (names.size() + 1)];
  run.max_steps = 1;
  BuilderFor(run).Build().Train();
}

TEST_CASE("twenty small models in a row, trained for a step, leave nothing behind") {
  constexpr std::size_t kModels = 20;
  // After these runs, what the kernels keep for themselves is there.
  for (std::size_t i = 0; i < kModels; ++i) TrainVaried(i);
  const std::int64_t resident = ResidentBytes();
  std::int64_t hits = SharedTensorPool().statistics().hits;
  for (std::size_t i = 0; i < kModels; ++i) {
    TrainVaried(i);
    INFO(i);
    const PoolStatistics statistics = SharedTensorPool().statistics();
    CHECK(statistics.live_bytes == 0);
    CHECK(statistics.hits > hits);  // one model's buffers serve the next
    hits = statistics.hits;
  }
  if (!testing::kIsSanitized) CHECK(ResidentBytes() - resident < (std::int64_t{4} << 20));
}

TEST_CASE("twenty models in a row leave nothing behind") {
  SmallRun run;
  run.network = "resnet";
  run.max_steps = 1;
  const auto hits = [] { return SharedTensorPool().statistics().hits; };
  Train(run);  // what the kernels keep for themselves is there from now on
  const std::int64_t resident = ResidentBytes();
  const std::int64_t hits_before = hits();
  for (int i = 0; i < 20; ++i) {
    Train(run);
    CHECK(SharedTensorPool().statistics().live_bytes == 0);
  }
  if (!testing::kIsSanitized) CHECK(ResidentBytes() - resident < (std::int64_t{4} << 20));
  CHECK(hits() > hits_before);  // one model's buffers served the next
}

}  // namespace
}  // namespace frugal::testing
