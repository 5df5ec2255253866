// Training in bf16: the plan is the run, policy changes nothing, and losses follow those of f32.
#include <algorithm>
#include <cmath>

#include "builders/report/rows/plan_notes.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

std::vector<std::string> AllNames() {
  std::vector<std::string> names = NetworkNames();
  for (const std::string& name : ArchitectureNames()) names.push_back(name);
  return names;
}

SmallRun Bf16Run(const std::string& network) {
  SmallRun run;
  run.network = network;
  run.precision = Precision::kBF16;
  return run;
}

TEST_CASE("in bf16 the plan is the run, to the byte") {
  for (const std::string& network : AllNames()) {
    for (const auto& memory : {TrainingMemoryConfig(), TrainingMemoryConfig::ForTransformers(),
                               TrainingMemoryConfig::FastConstruction()}) {
      SmallRun run = Bf16Run(network);
      run.memory = memory;
      const Trained trained = Train(run);
      CAPTURE(network);
      CheckPlanIsRun(trained.plan, trained.result, memory.use_activation_pooling);
    }
  }
}

TEST_CASE("in bf16 checkpointing and updates in backward change no bit") {
  for (const std::string& network : AllNames()) {
    SmallRun run = Bf16Run(network);
    run.clip = 0;
    const Trained plain = Train(run);
    run.memory.use_gradient_checkpointing = true;
    CAPTURE(network);
    CheckSame(plain, Train(run));
    run.memory.optimizer_in_backward = true;
    const Trained updated = Train(run);
    CHECK(updated.result.losses == plain.result.losses);
    CHECK(updated.values == plain.values);
  }
}

TEST_CASE("losses in bf16 follow those in f32 within 1%, at later steps of two kinds within 5%") {
  for (const std::string& network : AllNames()) {
    SmallRun run = Bf16Run(network);
    run.dropout = 0;
    const std::vector<double> bf16 = Train(run).result.losses;
    run.precision = Precision::kF32;
    const std::vector<double> f32 = Train(run).result.losses;
    // In gradients, statistics over a batch of 8 tiny images magnify any rounding, and so does one
    // of few relus that falls to the other side; the losses of later steps show it.
    const bool magnifies = network.starts_with("resnet") || network == "mlp";
    CAPTURE(network);
    REQUIRE(bf16.size() == f32.size());
    for (std::size_t i = 0; i < f32.size(); ++i) {
      CAPTURE(i);
      const double tolerance = magnifies && i > 0 ? 0.05 : 0.01;
      CHECK(std::abs(bf16[i] - f32[i]) < tolerance * std::abs(f32[i]));
    }
    CHECK(bf16 != f32);
  }
}

TEST_CASE(
    "bf16 keeps half of the activations' bytes, and a copy of each weight where products read it") {
  SmallRun run = Bf16Run("gpt2");
  const Plan bf16 = Train(run).plan;
  run.precision = Precision::kF32;
  const Plan f32 = Train(run).plan;
  const auto of = [](const Plan& plan, MemoryTag tag) { return plan.peak_by_purpose[tag]; };
  CHECK(4 * of(bf16, MemoryTag::kActivation) < 3 * of(f32, MemoryTag::kActivation));
  const bool copies = MakeOneDnnBackend()->ProductType(DType::kBF16) == DType::kBF16;
  const std::int64_t copied = of(bf16, MemoryTag::kParameter) - of(f32, MemoryTag::kParameter);
  CHECK((copied > 0) == copies);
  CHECK(of(bf16, MemoryTag::kGradient) == of(f32, MemoryTag::kGradient));
  CHECK(of(bf16, MemoryTag::kOptimizerState) == of(f32, MemoryTag::kOptimizerState));
}

TEST_CASE("in bf16 too an enlarged image is made again, not kept") {
  const auto kept = [](const char* precision) {
    const DataLayout layout = LayoutFor("convnet");
    AiModelBuilder builder;
    builder.Data(layout, SyntheticSources(layout)).Layers([](LayerList& list) {
      list.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}}).Upsample({.factor = 4});
      list.Conv2d({.filters = 2, .kernel = {3}, .padding = {1}}).Flatten().Dense({.units = 5});
    });
    builder.Training({.batch_size = 8}).Override({"training.precision=" + std::string(precision)});
    std::int64_t bytes = 0;
    for (const LayerPlan& layer : builder.Plan().plan.layers) bytes += layer.saved_bytes;
    return bytes;
  };
  CHECK(kept("bf16") * 2 == kept("f32"));
}

TEST_CASE("the plan says where products are not computed in bf16") {
  SmallRun run = Bf16Run("mlp");
  const bool computes = MakeOneDnnBackend()->ProductType(DType::kBF16) == DType::kBF16;
  const auto notes = [&] {
    return std::ranges::count_if(NotesOn(BuilderFor(run).Plan()), [](const std::string& note) {
      return note.find("no bf16 instructions") != std::string::npos;
    });
  };
  CHECK(notes() == (computes ? 0 : 1));
  run.precision = Precision::kF32;
  CHECK(notes() == 0);
}

TEST_CASE("bf16 on the reference backend is refused") {
  SmallRun run = Bf16Run("convnet");
  run.backend = BackendKind::kEigen;
  CHECK_THROWS_WITH(BuilderFor(run).Build(),
                    Catch::Contains("precision = \"bf16\" runs on the onednn backend"));
}

}  // namespace
}  // namespace frugal::testing
