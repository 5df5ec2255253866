// Training with f32 products as sums of three of bf16: the plan is the run, policy changes nothing,
// and losses stay near those of f32. Skipped where the processor has no matrix tiles.
#include <cmath>

#include "tests/skip.h"
#include "tests/support/budget_runs.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

AiModelBuilder Builder(Precision precision, const TrainingMemoryConfig& memory = {}) {
  BudgetRun run{.network = "gpt", .memory = memory};
  run.training.precision = precision;
  return BuilderFor(run);
}

TEST_CASE("in f32x3 the plan is the run, and memory policy changes no bit", "[needs-tiles]") {
  FRUGAL_SKIP_UNLESS(HasSplitProducts(), "no matrix tiles");
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

TEST_CASE("losses in f32x3 are those of f32 within a ten-thousandth, by other bits",
          "[needs-tiles]") {
  FRUGAL_SKIP_UNLESS(HasSplitProducts(), "no matrix tiles");
  const TrainingResult f32 = Builder(Precision::kF32).Build().Train();
  const TrainingResult split = Builder(Precision::kF32x3).Build().Train();
  REQUIRE(f32.losses.size() == split.losses.size());
  for (std::size_t i = 0; i < f32.losses.size(); ++i) {
    CHECK(std::abs(split.losses[i] / f32.losses[i] - 1) < 1e-4);
  }
  CHECK(f32.weights_hash != split.weights_hash);
}

// It runs as "properties/f32x3 with avx2" on a processor with tiles too.
TEST_CASE("f32x3 is refused where the processor has no matrix tiles", "[needs-tileless]") {
  FRUGAL_SKIP_UNLESS(!HasSplitProducts(), "this processor has matrix tiles");
  CHECK_THROWS_WITH(Builder(Precision::kF32x3).Plan(),
                    Contains("processors with matrix tiles (AMX)"));
}

}  // namespace
}  // namespace frugal::testing
