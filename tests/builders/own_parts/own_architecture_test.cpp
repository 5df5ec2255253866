// Families of architectures that programs bring are read, planned and named in errors like ours.
#include "builders/config/run_config_reader.h"
#include "layers/sequential.h"
#include "layers/simple_layers.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"
#include "tests/support/own_parts.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

struct FunnelConfig {
  std::int64_t inputs = 0;
  std::int64_t depth = 2;
  std::int64_t classes = 5;
};

std::unique_ptr<Sequential> MakeFunnel(const FunnelConfig& config) {
  auto network = std::make_unique<Sequential>();
  network->Append("flat", std::make_unique<FlattenLayer>());
  std::int64_t features = config.inputs;
  for (std::int64_t i = 0; i < config.depth; ++i) {
    const std::int64_t next = i + 1 < config.depth ? (features + 1) / 2 : config.classes;
    network->Append(std::to_string(i), std::make_unique<Dense>(features, DenseOptions{next}));
    features = next;
  }
  return network;
}

NominalSamples SamplesOf(const FunnelConfig& config) {
  return {.sample = {config.inputs, 1, 1}, .classes = config.classes};
}

void RegisterFunnel() {
  if (FindFamily("funnel") != nullptr) return;
  RegisterArchitecture<FunnelConfig>(
      "funnel",
      {SizeField("inputs", &FunnelConfig::inputs, "Values of a sample."),
       CountField("depth", &FunnelConfig::depth, "Products."),
       SizeField("classes", &FunnelConfig::classes, "Outputs.")},
      MakeFunnel, SamplesOf);
}

struct UnknownConfig {};

TEST_CASE("a registered family is known to files, the schema and messages", "[own]") {
  RegisterFunnel();
  const RunConfig config = ReadRunConfigText(
      "[model]\nfamily = \"funnel\"\nconfig = { inputs = 64, depth = 3 }\n", "own.toml");
  CHECK(config.model.architecture->As<FunnelConfig>()->depth == 3);
  CHECK_THAT(RunConfigSchema(), Contains("\"funnel\"") && Contains("Values of a sample."));
  CHECK_THROWS_WITH(
      ReadRunConfigText("[model]\nfamily = \"funnel\"\nconfig = { inputs = 0 }\n", "own.toml"),
      Contains("model.config") && Contains("inputs"));
  CHECK_THROWS_WITH(ReadRunConfigText("[model]\nfamily = \"funel\"\n", "own.toml"),
                    Contains("did you mean 'funnel'?"));
  CHECK_THROWS_WITH(RegisterArchitecture<FunnelConfig>("gpt2", {}, MakeFunnel),
                    Contains("there is one called \"gpt2\" already"));
}

TEST_CASE("a registered family trains its plan under every preset", "[own]") {
  RegisterFunnel();
  SmallRun run;
  run.network = "mlp";
  const Shape sample = BuilderFor(run).Plan().layout.sample_shape;
  const FunnelConfig funnel{.inputs = sample.ElementCount(), .depth = 3};
  const TempDir directory;
  Model first = BuilderFor(run).Architecture(funnel).Build();
  first.SaveWeights(directory.File("weights"));
  const Trained expected = Train(first);
  for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
    INFO(name);
    run.memory = memory;
    Model model = BuilderFor(run).Architecture(funnel).Build();
    const Trained trained = Train(model);
    CheckSame(expected, trained);
    CheckPlanIsRun(trained.plan, trained.result, false);
  }
}

TEST_CASE("a struct that is no family's is refused where it is given", "[own]") {
  AiModelBuilder builder;
  CHECK_THROWS_WITH(builder.Architecture(UnknownConfig()),
                    Contains("register a family of your own by RegisterArchitecture"));
}

}  // namespace
}  // namespace frugal::testing
