// [training] frozen and [optimizer] lr_multiplier_for.
#include "builders/setup/parameter_groups.h"

#include <map>

#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

using Paths = std::vector<std::string>;

SmallRun RunOf(const std::string& network, TrainingMemoryConfig memory = {}) {
  SmallRun run;
  run.network = network;
  run.memory = std::move(memory);
  run.clip = 0;
  return run;
}

std::map<std::string, std::vector<double>> ValuesIn(Model& model) {
  std::map<std::string, std::vector<double>> values;
  for (const Parameter* parameter : model.parameters()) {
    values[parameter->path] = model.Values(parameter->path);
  }
  return values;
}

std::string Refusal(AiModelBuilder builder) {
  return MessageOf<ConfigError>([&] { builder.Plan(); });
}

TEST_CASE("what is frozen stays as it is, statistics included, and the rest learns") {
  // The body's first residual block has two batch norms.
  const Paths frozen = {"stem", "1"};
  Model model = BuilderFor(RunOf("resnet")).Freeze(frozen).Build();
  const auto before = ValuesIn(model);
  const TrainingResult result = model.Train();
  int still = 0;
  for (const Parameter* parameter : model.parameters()) {
    INFO(parameter->path);
    const bool named = parameter->path.starts_with("stem.") || parameter->path.starts_with("1.");
    CHECK(parameter->frozen == named);
    CHECK((model.Values(parameter->path) == before.at(parameter->path)) == named);
    CHECK(model.LastGradient(parameter->path).empty() == (named || parameter->is_buffer));
    still += named ? 1 : 0;
  }
  CHECK(still >= 10);
  CHECK(model.plan().peak_by_purpose == result.memory.peak_by_purpose);
}

TEST_CASE("what is frozen takes no gradient, no optimizer state and keeps no activations") {
  const Plan all = BuilderFor(RunOf("resnet")).Plan().plan;
  const Plan part = BuilderFor(RunOf("resnet")).Freeze({"stem", "1"}).Plan().plan;
  const std::int64_t frozen = (all.trainable_count - part.trainable_count) * 4;
  CHECK(frozen > 0);
  for (const MemoryTag tag : {MemoryTag::kGradient, MemoryTag::kOptimizerState}) {
    const std::int64_t tensors = tag == MemoryTag::kGradient ? 1 : 2;
    // Blocks are rounded up, so a little more than the bare elements is saved.
    CHECK(all.peak_by_purpose[tag] - part.peak_by_purpose[tag] >= tensors * frozen);
  }
  CHECK(part.peak_by_purpose[MemoryTag::kActivation] <
        all.peak_by_purpose[MemoryTag::kActivation] * 8 / 10);
  CHECK(part.layers[0].saved_bytes == 0);
  // Its output, which the next layer, not frozen, needs.
  CHECK(part.layers[1].saved_bytes < all.layers[1].saved_bytes / 2);
  CHECK(part.steps.front().flops < all.steps.front().flops);
  CHECK(part.parameter_count == all.parameter_count);
}

TEST_CASE("freezing leaves the gradients of the rest as they were") {
  // Without batch norm: layers 1 and 2 of the mlp are dense and layer norm.
  const std::vector<std::int64_t> samples = {0, 1, 2, 3, 4, 5, 6, 7};
  Model all = BuilderFor(RunOf("mlp")).Build();
  Model part = BuilderFor(RunOf("mlp")).Freeze({"1", "4.bias"}).Build();
  CHECK(all.TrainStep(samples).loss == part.TrainStep(samples).loss);
  for (const Parameter* parameter : part.parameters()) {
    INFO(parameter->path);
    if (parameter->frozen) continue;
    CHECK(part.LastGradient(parameter->path) == all.LastGradient(parameter->path));
    CHECK_FALSE(part.LastGradient(parameter->path).empty());
  }
  CHECK(part.LastGradient("4.bias").empty());
  CHECK_FALSE(part.LastGradient("4.weight").empty());
}

TEST_CASE("memory policy changes nothing where parts are frozen") {
  TrainingMemoryConfig updating = TrainingMemoryConfig::MemoryEfficient();
  updating.optimizer_in_backward = true;
  for (const std::string& network : NetworkNames()) {
    Model first = BuilderFor(RunOf(network)).Build();
    const std::string half = first.parameters()[first.parameters().size() / 2]->path;
    for (const Paths& frozen : {Paths{first.parameters()[0]->path}, Paths{half}}) {
      INFO(network << " " << frozen.front());
      Model plain = BuilderFor(RunOf(network)).Freeze(frozen).Build();
      const TrainingResult expected = plain.Train();
      CHECK(plain.plan().peak_by_purpose == expected.memory.peak_by_purpose);
      for (const auto& memory : {TrainingMemoryConfig::ForConvNets(), updating,
                                 TrainingMemoryConfig::FastConstruction()}) {
        Model model = BuilderFor(RunOf(network, memory)).Freeze(frozen).Build();
        const TrainingResult result = model.Train();
        CHECK(result.losses == expected.losses);
        CHECK(result.weights_hash == expected.weights_hash);
        CHECK(model.plan().peak_by_purpose == result.memory.peak_by_purpose);
        CHECK(model.plan().peak_bytes == result.memory.peak_bytes);
      }
    }
  }
}

TEST_CASE("a tied weight is frozen under either of its names") {
  const DataLayout layout{.sample_shape = {8},
                          .classes = 16,
                          .target_shape = {},
                          .train_count = 8,
                          .vocabulary = 16,
                          .label_shape = {8}};
  AiModelBuilder builder;
  builder.Data(layout, {}).Training({.batch_size = 2, .evaluate = false});
  builder.Architecture(
      Gpt2Config{.vocab_size = 16, .n_positions = 8, .n_embd = 8, .n_layer = 1, .n_head = 2});
  for (const char* name : {"lm_head", "transformer.wte"}) {
    INFO(name);
    const PlannedTraining planned = AiModelBuilder(builder).Freeze({name}).Plan();
    int frozen = 0;
    for (const Parameter* parameter : planned.parameters) frozen += parameter->frozen ? 1 : 0;
    CHECK(frozen == 1);
  }
}

TEST_CASE("what is slow moves by its share of the rest's step") {
  SmallRun run = RunOf("mlp");
  run.backend = BackendKind::kEigen;
  run.precision = Precision::kF64;
  const std::vector<std::int64_t> samples = {0, 1, 2, 3};
  const auto moves = [&](const Paths& slow, double factor) {
    AiModelBuilder builder = BuilderFor(run);
    builder.Optimizer({.kind = OptimizerKind::kSgd, .lr = 0.1});
    if (!slow.empty()) builder.LearningRateMultiplier(slow, factor);
    Model model = builder.Build();
    const auto before = ValuesIn(model);
    model.TrainStep(samples);
    auto after = ValuesIn(model);
    for (auto& [path, values] : after) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] -= before.at(path)[i];
    }
    return after;
  };
  const auto full = moves({}, 1);
  for (const double factor : {0.1, 0.25}) {
    for (const auto& [path, values] : moves({"1", "4.bias"}, factor)) {
      INFO(path);
      const bool slow = path.starts_with("1.") || path == "4.bias";
      for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(values[i] == Approx(full.at(path)[i] * (slow ? factor : 1)).margin(1e-12));
      }
    }
  }
}

TEST_CASE("paths that lead nowhere are refused with the nearest") {
  AiModelBuilder builder = BuilderFor(RunOf("resnet"));
  CHECK(Refusal(AiModelBuilder(builder).Freeze({"stem", "stm"})) ==
        "[training.frozen] each path leads to parameters of the network; nothing lies under "
        "\"stm\"; did you mean 'stem'?");
  CheckContains(Refusal(AiModelBuilder(builder).LearningRateMultiplier({"head.wieght"})),
                "[optimizer.lr_multiplier_for] each path leads to parameters of the network; "
                "nothing lies under "
                "\"head.wieght\"; did you mean 'head.weight'?");
  // A part of a name is no path, nor is nothing.
  CheckContains(Refusal(AiModelBuilder(builder).Freeze({"ste"})), "nothing lies under");
  CheckContains(Refusal(AiModelBuilder(builder).Freeze({"stem."})), "nothing lies under");
  CheckContains(Refusal(AiModelBuilder(builder).Freeze({""})), "nothing lies under");
  CheckContains(Refusal(AiModelBuilder(builder).Freeze({"\n\x01"})), "nothing lies under");
}

TEST_CASE("what would leave nothing to do is refused") {
  AiModelBuilder builder = BuilderFor(RunOf("resnet"));
  const Paths all = {"stem", "1", "2", "3", "head"};
  CHECK(Refusal(AiModelBuilder(builder).Freeze(all)) ==
        "[training.frozen] something is left to train; the paths freeze every parameter; leave out "
        "the last layer's");
  CheckContains(
      Refusal(AiModelBuilder(builder).Freeze({"stem"}).LearningRateMultiplier({"stem.bias"})),
      "all under \"stem.bias\" is frozen");
  CHECK(Refusal(AiModelBuilder(builder).Freeze({"stem"}).LearningRateMultiplier({"stem", "1"})) !=
        "no error");
  CHECK(Refusal(AiModelBuilder(builder).Freeze({"stem.bias"}).LearningRateMultiplier({"stem"})) ==
        "no error");
  CheckContains(Refusal(AiModelBuilder(builder).LearningRateMultiplier({}, 0.5)),
                "lr_multiplier_for names none");
  CheckContains(Refusal(AiModelBuilder(builder).LearningRateMultiplier({"stem"}, 0)),
                "lr_multiplier");
  CheckContains(Refusal(AiModelBuilder(builder).LearningRateMultiplier({"stem"}, 1)),
                "lr_multiplier");
}

TEST_CASE("files name parts of the network, and refusals their place") {
  const std::string network = "[[model.layers]]\ntype = \"dense\"\nunits = 10\nname = \"head\"\n";
  const auto refusal = [&](const std::string& text) {
    return MessageOf<ConfigError>(
        [&] { PlanTraining(ReadRunConfigText(text + network, "run.toml")); });
  };
  CHECK(refusal("[training]\nepochs = 1\nfrozen = [\"haed\"]\n").starts_with("run.toml:3:"));
  CHECK(refusal("[optimizer]\nlr_multiplier_for = [\"haed\"]\n").starts_with("run.toml:2:"));
  CheckContains(refusal("[optimizer]\nlr_multiplier = 0.1\n"), "lr_multiplier_for names none");
  CheckContains(refusal("[training]\nfrozen = \"head\"\n"), "frozen");
  const RunConfig config = ReadRunConfigText(
      "[optimizer]\nlr_multiplier_for = [\"head\"]\nlr_multiplier = 0.5\n[training]\nfrozen = "
      "[\"a\", \"b\"]\n" +
          network,
      "run.toml");
  CHECK(config.optimizer.lr_multiplier_for == Paths{"head"});
  CHECK(config.optimizer.lr_multiplier == 0.5);
  CHECK(config.training.frozen == Paths{"a", "b"});
}

}  // namespace
}  // namespace frugal::testing
