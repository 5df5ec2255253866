// A training that grows with sizes alone takes no more time or memory to plan, and is planned to
// the byte.
#include "builders/dry_run/dry_training.h"
#include "sdk/core/error.h"
#include "sdk/module/repeat.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

// A small GPT-2 whose loss goes through row by row.
AiModelBuilder BuilderInRows(std::int64_t batch, std::int64_t accumulate) {
  SmallRun run;
  run.network = "gpt2";
  run.batch = batch;
  run.max_steps = 2;
  run.accumulate = accumulate;
  AiModelBuilder builder = BuilderFor(run);
  const DataLayout layout = [&] {
    DataLayout given = LayoutFor("gpt2");
    given.train_count = 2 * batch;
    given.test_count = batch;
    return given;
  }();
  builder.Data(layout, SyntheticSources(layout));
  TrainingOptions training = builder.config().training;
  training.loss_chunk_rows = 1;
  training.evaluation_batch_size = batch;
  return builder.Training(training);
}

std::vector<std::size_t> ItemsOf(const Plan& plan) {
  std::vector<std::size_t> items;
  for (const StepPlan& step : plan.steps) items.push_back(step.layout.items.size());
  return items;
}

TEST_CASE("a loss in many pieces trains exactly its plan, which has few of them", "[sizes]") {
  for (const bool in_backward : {false, true}) {
    AiModelBuilder builder = BuilderInRows(40, 1);  // 240 rows
    TrainingMemoryConfig memory = builder.config().memory;
    memory.optimizer_in_backward = in_backward;
    memory.track_memory_statistics = true;
    TrainingOptions training = builder.config().training;
    training.clip_gradient_norm = 0;
    builder.Memory(memory).Training(training);
    Model model = builder.Build();
    const TrainingResult result = model.Train();
    CheckPlanIsRun(model.plan(), result, true);
    REQUIRE(result.measured_timeline);
    CHECK(result.measured_timeline->live == model.plan().steps.front().timeline.live);
    const Plan larger = BuilderInRows(4000, 1)
                            .Memory(memory)
                            .Training([&] {
                              training.batch_size = training.evaluation_batch_size = 4000;
                              return training;
                            }())
                            .Plan()
                            .plan;
    CHECK(ItemsOf(larger) == ItemsOf(model.plan()));
    CHECK(larger.steps.front().flops == 100 * model.plan().steps.front().flops);
  }
}

TEST_CASE("a batch in many parts trains exactly its plan, which has few of them", "[sizes]") {
  for (const bool in_backward : {false, true}) {
    for (const std::int64_t batch : {120, 130, 239}) {  // parts of one size, and of two
      INFO("batch " << batch);
      AiModelBuilder builder = BuilderInRows(batch, 120);
      TrainingMemoryConfig memory = builder.config().memory;
      memory.optimizer_in_backward = in_backward;
      TrainingOptions training = builder.config().training;
      training.clip_gradient_norm = 0;
      Model model = builder.Memory(memory).Training(training).Build();
      const TrainingResult result = model.Train();
      CheckPlanIsRun(model.plan(), result, true);
      CHECK(ItemsOf(model.plan()).front() < 2000);
    }
  }
}

// On both sides of where loops are shortened, parts are alike.
TEST_CASE("shortened plans are those of all turns", "[sizes]") {
  for (const bool in_backward : {false, true}) {
    std::vector<Plan> plans;
    for (const std::int64_t parts : {kShortLoop, kShortLoop + 1}) {
      AiModelBuilder builder = BuilderInRows(parts, parts);
      TrainingMemoryConfig memory = builder.config().memory;
      memory.optimizer_in_backward = in_backward;
      TrainingOptions training = builder.config().training;
      training.clip_gradient_norm = 0;
      training.evaluate = false;
      plans.push_back(builder.Memory(memory).Training(training).Plan().plan);
    }
    CHECK(plans[0].arena_bytes == plans[1].arena_bytes);
    CHECK(plans[0].peak_by_purpose == plans[1].peak_by_purpose);
    CHECK(plans[0].at_peak == plans[1].at_peak);
    CHECK(plans[1].steps.front().flops / plans[0].steps.front().flops ==
          Approx(static_cast<double>(kShortLoop + 1) / kShortLoop));
  }
}

DataLayout LongSequences(std::int64_t length) {
  return {.sample_shape = {length, 1, 2},
          .classes = 5,
          .target_shape = {},
          .train_count = 4,
          .test_count = 2};
}

AiModelBuilder RecurrentBuilder(std::int64_t length, bool gru) {
  const DataLayout layout = LongSequences(length);
  TrainingOptions training;
  training.batch_size = training.evaluation_batch_size = 2;
  training.max_steps = 2;
  AiModelBuilder builder;
  builder.Data(layout, SyntheticSources(layout)).Training(training);
  return builder.Layers([gru](LayerList& l) {
    l.ToSequence();
    gru ? l.Gru({.units = 7}) : l.Lstm({.units = 7});
    l.SequencePool({}).Dense({.units = 5});
  });
}

TEST_CASE("long sequences train exactly their plan, which has few of their steps", "[sizes]") {
  for (const bool gru : {true, false}) {
    Model model = RecurrentBuilder(150, gru).Build();
    CheckPlanIsRun(model.plan(), model.Train(), true);
    const std::vector<std::size_t> few = ItemsOf(model.plan());
    const std::vector<std::size_t> long_ones =
        ItemsOf(RecurrentBuilder(1'000'000, gru).Plan().plan);
    REQUIRE(long_ones.size() == few.size());
    // Kernels of some processors take workspace for products of that many rows.
    for (std::size_t i = 0; i < few.size(); ++i) CHECK(long_ones[i] <= few[i] + 1);
  }
}

TEST_CASE("a plan of more than can be addressed is refused", "[sizes]") {
  AiModelBuilder builder;
  const DataLayout layout = {.sample_shape = {1 << 20, 1 << 20, 1},
                             .classes = 5,
                             .target_shape = {},
                             .train_count = 1000,
                             .test_count = 0};
  TrainingOptions training;
  training.batch_size = 200;
  training.evaluate = false;
  builder.Training(training).Data(layout, SyntheticSources(layout));
  builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 5}); });
  CheckContains(MessageOf<MemoryError>([&] { builder.Plan(); }),
                "no more is live at once than a process can address");
}

}  // namespace
}  // namespace frugal::testing
