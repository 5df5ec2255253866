// Optimizers that programs register keep the promises, and are known to files as ours are.
#include "builders/config/overrides.h"
#include "builders/config/run_config_reader.h"
#include "builders/config/text/config_values.h"
#include "builders/reference/explain.h"
#include "builders/reference/reference.h"
#include "presets/config/toml_writer.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/properties/device_meshes.h"
#include "tests/support/own_parts.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

SmallRun LionRun(const std::string& network) {
  RegisterOwnParts();
  SmallRun run = RunOf(network);
  run.optimizer = {.kind = "lion",
                   .lr = 0.002,
                   .weight_decay = 0.1,
                   .decay_vectors = false,
                   .ema_decay = 0.9,
                   .options = LionOptions{.beta1 = 0.8}};
  return run;
}

TEST_CASE("a registered optimizer keeps the promises under every preset", "[own]") {
  const TempDir directory;
  for (const std::string network : {"convnet", "gpt2"}) {
    for (const double clip : {0.0, 0.5}) {
      SmallRun run = LionRun(network);
      run.clip = clip;
      Model first = BuilderFor(run).Build();
      first.SaveWeights(directory.File("weights"));
      const Trained expected = Train(first);
      CHECK(first.plan().steps.front().baseline[MemoryTag::kOptimizerState] > 0);
      for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
        INFO(network << ", clips to " << clip << ", " << name);
        run.memory = memory;
        run.memory.optimizer_in_backward = clip == 0;
        Trained trained = Train(run);
        // Then gradients are used up within the step.
        if (run.memory.optimizer_in_backward) trained.gradients = expected.gradients;
        CheckSame(expected, trained);
        CheckPlanIsRun(trained.plan, trained.result, false);
      }
    }
  }
}

TEST_CASE("replicas share the state of a registered optimizer", "[own][devices]") {
  for (const std::string network : {"mlp", "gpt2"}) {
    SmallRun run = LionRun(network);
    run.clip = 0.5;
    run.optimizer.ema_decay = 0;  // which ZeRO refuses
    const Trained alone = TrainOn({.micro_batches = 4, .groups = 2}, run);
    std::int64_t whole = 0;
    for (const std::int64_t stage : {0, 1, 2, 3}) {
      const Mesh mesh = {
          .devices = 2, .micro_batches = 2, .replicas = 2, .zero_stage = stage, .bucket_kb = 4};
      INFO(network << " on " << Describe(mesh));
      CheckSame(alone, TrainOn(mesh, run));
      const PlannedTraining planned = BuilderFor(On(mesh, run)).Plan();
      const std::int64_t state =
          planned.devices[0].plan.steps.front().baseline[MemoryTag::kOptimizerState];
      if (stage == 0) whole = state;
      CHECK(state <= whole);
      if (stage > 0) CHECK(state < whole);
    }
  }
}

constexpr const char* kOptimizerToml = R"(
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "dense"
units = 10
[optimizer]
kind = "lion"
lr = 0.001
[optimizer.lion]
beta2 = 0.95
)";

std::string OptimizerRefusal(const std::string& from, const std::string& to) {
  std::string text = kOptimizerToml;
  text.replace(text.find(from), from.size(), to);
  return MessageOf<ConfigError>([&] { ReadRunConfigText(text, "own.toml"); });
}

TEST_CASE("options of a registered optimizer are read, shown and overridden", "[own]") {
  RegisterOwnParts();
  const RunConfig config =
      ReadRunConfigText(kOptimizerToml, "own.toml", {"optimizer.lion.beta1=0.7"});
  CHECK(config.optimizer.kind == "lion");
  CHECK(OwnOptionsOf<LionOptions>(config.optimizer).beta1 == 0.7);
  CHECK(OwnOptionsOf<LionOptions>(config.optimizer).beta2 == 0.95);
  const std::string shown = ResolvedText(AllValues(config));
  CHECK_THAT(shown, Contains("kind = \"lion\" (own.toml:8)") && Contains("lion.beta1 = 0.7") &&
                        Contains("lion.beta2 = 0.95 (own.toml:11)"));
  CHECK_THAT(ResolvedText(AllValues(RunConfig())), !Contains("lion"));

  AiModelBuilder builder = BuilderFor(LionRun("mlp"));
  builder.Override({"optimizer.lion.beta2=0.5"});
  const auto& own = OwnOptionsOf<LionOptions>(builder.config().optimizer);
  CHECK(own.beta1 == 0.8);
  CHECK(own.beta2 == 0.5);
  const std::string in_code = ResolvedText(AllValues(BuilderFor(LionRun("mlp")).config()));
  CHECK_THAT(in_code, Contains("kind = \"lion\" (code)") && Contains("lion.beta1 = 0.8 (code)"));
}

TEST_CASE("options of a registered optimizer that are written read as themselves", "[own]") {
  RegisterOwnParts();
  const RunConfig config = ReadRunConfigText(kOptimizerToml, "own.toml");
  const std::string written = WriteFields(OptimizerFields(), &config.optimizer, "optimizer");
  std::string text = kOptimizerToml;
  text.replace(text.find("[optimizer.lion]"), std::string::npos,
               written.substr(written.find("[optimizer.lion]")));
  const RunConfig again = ReadRunConfigText(text, "again.toml");
  CHECK(WriteFields(OptimizerFields(), &again.optimizer, "optimizer") == written);
  CHECK(OwnOptionsOf<LionOptions>(again.optimizer).beta2 == 0.95);
}

TEST_CASE("a registered optimizer is in schema, reference and explanations", "[own]") {
  RegisterOwnParts();
  CHECK_THAT(RunConfigSchema(), Contains("\"lion\"") && Contains("Decay of the momentum."));
  CHECK_THAT(ReferencePage(), Contains("- `lion`: Steps by the sign") &&
                                  Contains("| `lion.beta2` | a number >= 0 and < 1 | `0.99` |"));
  CHECK_THAT(ExplainText("optimizer.kind"), Contains("lion"));
  CHECK_THAT(ExplainText("lion"), Contains("a kind of [optimizer]") && Contains("lion.beta2"));
  CHECK_THAT(ExplainText("optimizer.lion.beta1"), Contains("--set optimizer.lion.beta1=0.9"));
}

TEST_CASE("mistakes about registered optimizers have their place and advice", "[own]") {
  RegisterOwnParts();
  CHECK_THAT(OptimizerRefusal("\"lion\"", "\"lino\""),
             Contains("own.toml:8:8: [optimizer] 'kind' must be one of sgd") &&
                 Contains("did you mean 'lion'?"));
  CHECK_THAT(OptimizerRefusal("beta2 = 0.95", "beta3 = 0.95"),
             Contains("own.toml:11:1: [optimizer.lion] unknown key 'beta3'; did you mean"));
  CHECK_THAT(OptimizerRefusal("beta2 = 0.95", "beta2 = 1.5"),
             Contains("own.toml:11:9: [optimizer.lion] 'beta2' must be a number >= 0 and < 1"));
  CHECK_THAT(
      OptimizerRefusal("\"lion\"", "\"adamw\""),
      Contains("[optimizer] lion belongs to kind = \"lion\"; kind = \"adamw\"; leave it out"));
  CHECK_THAT(OptimizerRefusal("lr = 0.001", "beta1 = 0.8"),
             Contains("beta1 belongs to adam, adamw, nadam, radam and adamax; kind = \"lion\""));
  CHECK_THAT(
      OptimizerRefusal("lr = 0.001", "state = \"8bit\""),
      Contains("[optimizer] state = \"8bit\" belongs to sgd, adam") && Contains("kind = \"lion\""));
  const auto planned = [](const OptimizerOptions& options) {
    SmallRun run = RunOf("mlp");
    run.optimizer = options;
    return MessageOf<ConfigError>([&] { BuilderFor(run).Plan(); });
  };
  CHECK_THAT(planned({.options = LionOptions()}),
             Contains("kind = \"adamw\", which has none; give its own, or leave options out"));
  CHECK_THAT(planned({.kind = "lion", .options = GainOptions()}),
             Contains("kind = \"lion\", which has another struct"));
  CHECK_THAT(planned({.kind = "lion", .options = LionOptions{.beta1 = 2}}),
             Contains("[optimizer.lion] 'beta1' must be a number"));
  CHECK_THAT(planned({.kind = "lino"}), Contains("did you mean 'lion'?"));
}

}  // namespace
}  // namespace frugal::testing
