#include "builders/plan/published_models.h"

#include "builders/config/architecture_reader.h"
#include "builders/report/rows/plan_notes.h"
#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"
#include "tests/io/temp_dir.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

TEST_CASE("every published model is planned by its name, and no weight is touched") {
  const std::int64_t before = ResidentBytes();
  for (const std::string& name : NamedModels()) {
    INFO(name);
    const PlannedTraining planned = PlanNamedModel(name);
    const Plan& plan = planned.plan;
    CHECK(plan.parameter_count == BuildArchitecture(ArchitectureNamed(name))->ParameterCount());
    // Values of all, and gradients and two moments of those that train.
    CHECK(plan.peak_bytes > 4 * plan.parameter_count + 12 * plan.trainable_count);
    CHECK(plan.peak_by_purpose[MemoryTag::kActivation] > 0);
    CHECK(planned.config.optimizer.kind == OptimizerKind::kAdamW);
    CHECK(plan.steps.size() == 1);
  }
  // The kernels that oneDNN 3.12 makes for these plans hold 90 MB, and one model's weights up to 48
  // GB.
  if (!testing::kIsSanitized) CHECK(ResidentBytes() - before < (std::int64_t{128} << 20));
}

TEST_CASE("named models: data as the network takes them") {
  const DataLayout dit = LayoutWithoutData(NamedModelConfig("dit-s-2"));
  CHECK(dit.sample_shape == Shape({32, 32, 4}));
  CHECK(dit.target_shape == Shape({32, 32, 8}));  // with the variance
  REQUIRE(dit.conditions.size() == 2);
  CHECK(dit.conditions[1].classes == 1001);
  CHECK(dit.classes == 0);
  const DataLayout gpt2 = LayoutWithoutData(NamedModelConfig("gpt2"));
  CHECK(gpt2.sample_shape == Shape({1024}));
  CHECK(gpt2.label_shape == Shape({1024}));
  CHECK(gpt2.vocabulary == 50257);
  CHECK(gpt2.classes == 50257);
  const DataLayout bert = LayoutWithoutData(NamedModelConfig("bert-base"));
  CHECK(bert.target_shape == Shape({512, 768}));  // it has no head
  const DataLayout resnet = LayoutWithoutData(NamedModelConfig("resnet-18"));
  CHECK(resnet.sample_shape == Shape({224, 224, 3}));
  CHECK(resnet.classes == 1000);
}

TEST_CASE("named models: overrides change the plan") {
  const Plan plain = PlanNamedModel("dit-s-2").plan;
  const auto peak = [](const std::vector<std::string>& overrides) {
    return PlanNamedModel("dit-s-2", overrides).plan.peak_bytes;
  };
  CHECK(peak({"training.batch_size=8"}) > plain.peak_bytes);
  CHECK(peak({"memory.preset=ForTransformers", "training.batch_size=8"}) <
        peak({"training.batch_size=8"}));
  CHECK(peak({"model.config.depth=3"}) < plain.peak_bytes);
  CHECK(peak({"optimizer.kind=sgd"}) < plain.peak_bytes);
  CHECK(LayoutWithoutData(NamedModelConfig("gpt2", {"data.sequence_length=64"})).sample_shape ==
        Shape({64}));
}

TEST_CASE("named models: the plan says what it assumes") {
  const std::vector<std::string> notes = NotesOn(PlanNamedModel("dit-s-2"));
  REQUIRE_FALSE(notes.empty());
  CHECK(notes.front() ==
        "without data: assumes samples of x [32, 32, 4], t, y; targets of [32, 32, 8]");
}

TEST_CASE("named models: mistakes") {
  const auto message = [](const std::string& name, const std::vector<std::string>& overrides) {
    return MessageOf<ConfigError>([&] { PlanNamedModel(name, overrides); });
  };
  CheckContains(message("dit-xl", {}), "did you mean 'dit-xl-2'?");
  CheckContains(message("", {}), "one of");
  CheckContains(message("dit-s-2", {"training.batch_size=0"}), "batch_size");
  CheckContains(message("dit-s-2", {"memory.preset=ForTransformer"}), "ForTransformers");
  CheckContains(message("dit-s-2", {"data.sequence_length=7"}), "without data");
  CheckContains(message("gpt2", {"data.text_file=a.txt"}), "data.sequence_length");
  CheckContains(message("gpt2", {"model.preset=dit-s-2"}), "model.config");
  CheckContains(message("gpt2", {"loss.kind=mse"}), "logits");
  CheckContains(message("dit-s-2", {"loss.kind=cross_entropy"}), "targets are values");
  CheckContains(message("dit-s-2", {"model.config.num_heads=7"}), "num_heads");
}

// The counts are those of the public checkpoints, but for the adapters: sd-1.5 with 9 input
// channels has 14,400 more than with 4; catvton lacks the 43,962,560 of all cross attentions,
// ip-adapter-faceid has those of its projections and of two matrices 768 wide for each of 12,480
// channels that attend. The counts of instantid and controlnet-union-pro are also those of a
// PyTorch module of these sizes.
TEST_CASE("named models: adapted ones have the parameters of their parts") {
  const auto count = [](const char* name) {
    return BuildArchitecture(ArchitectureNamed(name))->ParameterCount();
  };
  const std::int64_t plain = count("sd-1.5");
  CHECK(count("paint-by-example") == plain + 14'400);
  CHECK(count("catvton") == plain + 14'400 - 43'962'560);
  CHECK(count("ip-adapter-faceid") == plain + 3'675'648 + std::int64_t{2} * 768 * 12'480);
  CHECK(count("hd-painter") == 865'925'124);
  CHECK(count("instantid") == 1'251'014'160);
  CHECK(count("controlnet-union-pro") == 1'256'614'800);
  CHECK(count("cogvideox") == count("cogvideox-2b"));
  CHECK(count("recraft-v3") == count("flux.1-dev"));
}

// Counted by a PyTorch module of the same description on the meta device.
TEST_CASE("named models: Imagen's cascade") {
  const auto network = [](const char* name) { return BuildArchitecture(ArchitectureNamed(name)); };
  CHECK(network("imagen")->ParameterCount() == 2'263'425'027);
  CHECK(network("imagen-sr-256")->ParameterCount() == 583'735'043);
  CHECK(network("imagen-sr-1024")->ParameterCount() == 479'881'987);
  // Each network's output is what the next enlarges.
  const auto output = [](const char* name) {
    return LayoutWithoutData(NamedModelConfig(name)).target_shape;
  };
  const auto enlarged = [&](const char* name) { return network(name)->inputs().at(3).shape; };
  CHECK(output("imagen") == enlarged("imagen-sr-256"));
  CHECK(output("imagen-sr-256") == enlarged("imagen-sr-1024"));
  CHECK(output("imagen-sr-1024") == Shape({1024, 1024, 3}));
  // The list and the plan say which follow.
  CheckContains(PublishedAs("imagen"), "then imagen-sr-256, imagen-sr-1024");
  const std::vector<std::string> notes = NotesOn(PlanNamedModel("imagen"));
  CHECK(std::ranges::count(notes, "imagen: " + PublishedAs("imagen")) == 1);
  CHECK(PublishedAs("imagine").empty());
}

TEST_CASE("named models: adapted ones take what they are conditioned on") {
  const auto names = [](const char* name) {
    std::vector<std::string> all;
    const auto network = BuildArchitecture(ArchitectureNamed(name));
    for (const NetworkInput& input : network->inputs()) all.push_back(input.name);
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(names("catvton") == Names{"x", "t"});
  CHECK(names("ip-adapter-faceid") == Names{"x", "t", "context", "image_embeds"});
  CHECK(names("instantid") == Names{"x", "t", "context", "hint", "text_embeds", "time_ids"});
  CHECK(names("controlnet-union-pro") ==
        Names{"x", "t", "context", "hint_0", "control_type", "text_embeds", "time_ids"});
}

TEST_CASE("the list has every model once, in order, with what it takes") {
  const std::vector<ModelListing> models = ListModels("ForTransformers");
  const std::vector<std::string> names = NamedModels();
  REQUIRE(models.size() == names.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    INFO(models[i].name);
    CHECK(models[i].name == names[i]);
    CHECK(models[i].held_bytes >= 4 * models[i].parameters);
    CHECK(models[i].train_bytes > models[i].held_bytes);
    CHECK(models[i].published.size() > 10);  // each file begins with a comment that says
  }
  CHECK_THROWS_AS(ListModels("ForTransformer"), ConfigError);
}

}  // namespace
}  // namespace frugal::testing
