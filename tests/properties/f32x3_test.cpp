// Training with f32 products as sums of three of bf16: the plan is the run, policy changes nothing,
// and losses stay near those of f32. Skipped where the processor has no matrix tiles.
#include <cmath>

#include "tests/support/budget_runs.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

AiModelBuilder Builder(Precision precision, const TrainingMemoryConfig& memory = {}) {
  BudgetRun run{.network = "gpt", .memory = memory};
  run.training.precision = precision;
  return BuilderFor(run);
}

TEST_CASE("in f32x3 the plan is the run, and memory policy changes no bit") {
  if (!HasSplitProducts()) return;
  std::string hash;
  for (const auto& memory : {TrainingMemoryConfig(), TrainingMemoryConfig::ForTransformers(),
                             TrainingMemoryConfig::MemoryEfficient()}) {
    Model model = Builder(Precision::kF32x3, memory).Build();
    const TrainingResult result = model.Train();
    CheckPlanIsRun(model.plan(), result, memory.use_activation_pooling);
    if (hash.empty()) hash = result.weights_hash;
    CHECK(result.weights_hash == hash);
  }
}

TEST_CASE("losses in f32x3 are those of f32 within a ten-thousandth, by other bits") {
  if (!HasSplitProducts()) return;
  const TrainingResult f32 = Builder(Precision::kF32).Build().Train();
  const TrainingResult split = Builder(Precision::kF32x3).Build().Train();
  REQUIRE(f32.losses.size() == split.losses.size());
  for (std::size_t i = 0; i < f32.losses.size(); ++i) {
    CHECK(std::abs(split.losses[i] / f32.losses[i] - 1) < 1e-4);
  }
  CHECK(f32.weights_hash != split.weights_hash);
}

TEST_CASE("f32x3 is refused where the processor has no matrix tiles") {
  if (HasSplitProducts()) return;
  CHECK_THROWS_AS(Builder(Precision::kF32x3).Plan(), ConfigError);
}

}  // namespace
}  // namespace frugal::testing
