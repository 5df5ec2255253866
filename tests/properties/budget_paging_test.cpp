// A budget with a page file: what goes there is a choice beside recomputing.
#include <set>

#include "builders/memory_report/memory_report.h"
#include "builders/report/memory/memory_page.h"
#include "builders/report/memory/memory_text.h"
#include "builders/report/rows/plan_notes.h"
#include "sdk/core/byte_size.h"
#include "tests/io/temp_dir.h"
#include "tests/support/budget_runs.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kMegabyte = kBytesPerMegabyte;

// Eight layers of 4 MB, and a small one: 33 MB of weights, twice as much state, and gradients
// unless they are freed.
AiModelBuilder Wide(const TempDir& directory, std::optional<std::int64_t> budget_mb,
                    bool has_file = true, std::int64_t buffer_mb = 2) {
  SmallRun run;
  run.clip = 0;
  if (budget_mb) run.memory.memory_budget_mb = MemoryBudget{.megabytes = *budget_mb};
  if (has_file) run.memory.memory_page_file = directory.File("page");
  run.memory.memory_page_buffer_mb = buffer_mb;
  AiModelBuilder builder = BuilderFor(run);
  builder.Layers([](LayerList& l) {
    l.Flatten();
    for (int i = 0; i < 9; ++i) l.Dense({.units = 1024, .activation = Activation::kRelu});
    l.Dense({.units = 5});
  });
  return builder;
}

TEST_CASE("a budget pages no more than it needs", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  struct Expected {
    std::int64_t budget_mb;
    PagedKinds kinds;
  };
  for (const auto& [budget_mb, kinds] :
       {Expected{1000, PagedKinds::kNone}, Expected{70, PagedKinds::kOptimizerState},
        Expected{40, PagedKinds::kWeights}}) {
    INFO(budget_mb << " MB");
    const PlannedTraining planned = Wide(directory, budget_mb).Plan();
    CHECK(planned.config.memory.memory_page_kinds == kinds);
    CHECK(planned.plan.paging.has_value() == (kinds != PagedKinds::kNone));
    CHECK(planned.plan.budget->planned_bytes <= budget_mb * kMegabyte);
    CHECK((planned.plan.budget->page_seconds > 0) == (kinds != PagedKinds::kNone));
    CHECK(directory.Count() == 0);
  }
}

TEST_CASE("a budget that needs a page file is kept to, with the bits of none", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  Model plain = Wide(directory, std::nullopt, false).Build();
  const Trained expected = Train(plain);
  for (const std::int64_t budget_mb : {1000, 100, 70, 40, 30}) {
    INFO(budget_mb << " MB");
    Model model = Wide(directory, budget_mb).Build();
    const TrainingResult result = model.Train();
    CHECK(result.losses == expected.result.losses);
    CHECK(result.weights_hash == expected.result.weights_hash);
    CheckPlanIsRun(model.plan(), result, true);
    CHECK(result.memory.peak_bytes <= budget_mb * kMegabyte);
    if (model.plan().paging) {
      CHECK(result.memory.paging->step == model.plan().steps.front().paged);
    }
  }
}

TEST_CASE("a page file that is stated and not used is told", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const auto notes = [&](std::int64_t budget_mb, const std::vector<std::string>& overrides) {
    std::string text;
    const PlannedTraining planned = Wide(directory, budget_mb).Override(overrides).Plan();
    for (const std::string& note : NotesOn(planned)) text += note + "\n";
    return text;
  };
  CheckContains(notes(1000, {}), "since the budget is met without it");
  CheckContains(
      notes(1000, {"memory.memory_page_kinds=Weights", "memory.memory_page_least_kb=65536"}),
      "no tensor that would is as large as memory_page_least_kb = 65536");
  CheckContains(
      notes(1000, {"memory.memory_page_kinds=Weights", "memory.memory_page_buffer_mb=200"}),
      "less than the memory between, memory_page_buffer_mb = 200");
  CHECK(notes(70, {}).find("nothing goes there") == std::string::npos);
  const std::string snapshots = "snapshots.directory=" + directory.File("runs");
  CheckContains(notes(1000, {snapshots}), "training waits for its snapshots");
}

TEST_CASE("what a user says of the page file stays as it is", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const PlannedTraining planned =
      Wide(directory, 1000).Override({"memory.memory_page_kinds=Weights"}).Plan();
  CHECK(planned.config.memory.memory_page_kinds == PagedKinds::kWeights);
  CHECK(planned.plan.paging);
}

TEST_CASE("a smaller budget never plans a higher peak with a page file", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  std::int64_t larger = INT64_MAX;
  for (std::int64_t budget_mb = 150; budget_mb >= 30; budget_mb -= 5) {
    const std::int64_t planned = Wide(directory, budget_mb).Plan().plan.budget->planned_bytes;
    CHECK(planned <= budget_mb * kMegabyte);
    CHECK(planned <= larger);
    larger = planned;
  }
}

// Its layers keep tens of MB for their backward passes, in many tensors.
BudgetRun WithPagedActivations(const TempDir& directory, std::int64_t budget_mb) {
  BudgetRun run{.network = "gpt", .budget_mb = budget_mb};
  run.memory.memory_page_file = directory.File("page");
  run.memory.memory_page_least_kb = 1;
  run.memory.memory_page_buffer_mb = 2;
  return run;
}

// Nothing else can make room here, so that no choice depends on the disk's rate.
AiModelBuilder WithoutRecomputation(const TempDir& directory, std::int64_t budget_mb) {
  return BuilderFor(WithPagedActivations(directory, budget_mb))
      .Override({"memory.use_gradient_checkpointing=false"});
}

std::int64_t KeptMegabytes(const TempDir& directory) {
  const PlannedTraining planned = BuilderFor(WithPagedActivations(directory, 1000)).Plan();
  return Megabytes(planned.plan.budget->unconstrained_bytes);
}

TEST_CASE("smaller budgets peak no higher and take no less time", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const std::int64_t kept = KeptMegabytes(directory);
  std::int64_t larger = INT64_MAX;
  double faster = 0;
  for (std::int64_t budget_mb = kept; budget_mb > kept / 3; budget_mb -= 3) {
    INFO(budget_mb << " MB of " << kept);
    const PlannedTraining planned = BuilderFor(WithPagedActivations(directory, budget_mb)).Plan();
    const BudgetPlan& budget = *planned.plan.budget;
    CHECK(budget.planned_bytes <= budget_mb * kMegabyte);
    CHECK(budget.planned_bytes <= larger);
    CHECK(budget.predicted_slowdown >= faster);
    larger = budget.planned_bytes;
    faster = budget.predicted_slowdown;
  }
}

TEST_CASE("a budget pages as much of what forward passes keep as it needs", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const std::int64_t kept = KeptMegabytes(directory);
  std::set<std::int64_t> amounts;
  for (std::int64_t budget_mb = kept * 9 / 10; budget_mb > kept / 2; budget_mb -= 3) {
    INFO(budget_mb << " MB of " << kept);
    const PlannedTraining planned = WithoutRecomputation(directory, budget_mb).Plan();
    CHECK(planned.plan.budget->planned_bytes <= budget_mb * kMegabyte);
    CHECK(planned.config.training.gradient_accumulation_steps == 1);
    REQUIRE(planned.plan.paging);
    std::int64_t paged = 0;
    for (const Holder& one : planned.plan.paging->activations) paged += one.bytes;
    const std::int64_t megabytes = planned.config.memory.memory_page_activations_mb;
    CHECK(paged <= megabytes * kMegabyte);
    amounts.insert(megabytes);
  }
  CHECK(amounts.size() >= 3);
}

TEST_CASE("measured costs choose what a page file holds too", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const std::int64_t kept = KeptMegabytes(directory);
  for (const std::int64_t budget_mb : {kept * 3 / 4, kept / 2}) {
    BudgetRun run = WithPagedActivations(directory, budget_mb);
    run.memory.planner_costs = PlannerCosts::kMeasured;
    const PlannedTraining planned = BuilderFor(run).Plan();
    CHECK(planned.plan.budget->planned_bytes <= budget_mb * kMegabyte);
    CHECK(planned.plan.budget->predicted_seconds > 0);
    CHECK(planned.config.training.gradient_accumulation_steps == 1);
  }
}

TEST_CASE("a part of what forward passes keep is paged as planned, bit for bit",
          "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  Model plain = BuilderFor(BudgetRun{.network = "gpt"}).Build();
  const Trained expected = Train(plain);
  const std::int64_t kept = Megabytes(plain.plan().peak_bytes);
  for (const std::int64_t budget_mb : {kept * 4 / 5, kept * 3 / 5, kept / 2}) {
    INFO(budget_mb << " MB of " << kept);
    Model model = WithoutRecomputation(directory, budget_mb).Build();
    const TrainingResult result = model.Train();
    CHECK(result.losses == expected.result.losses);
    CHECK(result.weights_hash == expected.result.weights_hash);
    CheckPlanIsRun(model.plan(), result, true);
    REQUIRE(model.plan().paging);
    CHECK(result.memory.paging->step == model.plan().steps.front().paged);
  }
}

// A U-Net, whose skip connections leave less for recomputation to save.
AiModelBuilder UNetWithin(std::int64_t budget_mb, const TempDir* directory) {
  const DataLayout layout = {
      .sample_shape = {16, 16, 3}, .target_shape = {}, .train_count = 64, .test_count = 16};
  TrainingMemoryConfig memory;
  memory.memory_budget_mb = MemoryBudget{.megabytes = budget_mb};
  if (directory != nullptr) {
    memory.memory_page_file = directory->File("page");
    memory.memory_page_least_kb = 1;
  }
  AiModelBuilder builder;
  builder.Memory(memory).Data(layout, SyntheticSources(layout));
  builder.Diffusion({.kind = DiffusionKind::kNoise})
      .Architecture(UNetConfig{.down_block_types = {"DownBlock2D", "AttnDownBlock2D"},
                               .up_block_types = {"AttnUpBlock2D", "UpBlock2D"},
                               .block_out_channels = {32, 64},
                               .attention_head_dim = 32});
  return builder.Training({.batch_size = 16, .evaluation_batch_size = 16});
}

TEST_CASE("sums keep their order as long as a page file can do", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  int needed = 0;
  for (const std::int64_t budget_mb : {24, 20}) {
    INFO(budget_mb << " MB");
    const std::int64_t parts_without =
        UNetWithin(budget_mb, nullptr).Plan().config.training.gradient_accumulation_steps;
    const PlannedTraining planned = UNetWithin(budget_mb, &directory).Plan();
    CHECK(planned.plan.budget->planned_bytes <= budget_mb * kMegabyte);
    CHECK(planned.config.training.gradient_accumulation_steps == 1);
    if (parts_without > 1) {
      ++needed;
      CHECK(planned.plan.paging);
    }
    // Where the disk is slow, what fits without the file may be faster. Of a small budget, the
    // memory between is a small part.
    if (planned.plan.paging) CHECK(planned.config.memory.memory_page_buffer_mb <= 4);
  }
  CHECK(needed > 0);
  const PlannedTraining stated =
      UNetWithin(80, &directory)
          .Override({"memory.memory_page_buffer_mb=48", "memory.memory_page_kinds=Weights"})
          .Plan();
  CHECK(stated.config.memory.memory_page_buffer_mb == 48);
}

TEST_CASE("a refusal names the least of all choices", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  // The memory between is more than all that would lie in the file.
  const auto refusal = [&](bool has_file) {
    return RefusalOf(Wide(directory, 20, has_file).Override({"memory.memory_page_buffer_mb=200"}));
  };
  const std::string without = refusal(false);
  CheckContains(without, " is the least this model can use here");
  const std::string least = without.substr(without.find(": "), without.find(" is the least"));
  CheckContains(refusal(true), least.substr(0, least.find(" is the least")));
}

TEST_CASE("the least that a refusal names with a page file is enough", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const auto within = [&](std::int64_t budget_mb) {
    return Wide(directory, budget_mb, true, TrainingMemoryConfig().memory_page_buffer_mb)
        .Override({"memory.memory_page_kinds=Optimizer"});
  };
  const std::string text = RefusalOf(within(3));
  INFO(text);
  const std::string told = " is the least";
  const std::size_t end = text.find(" MB" + told);
  REQUIRE(end != std::string::npos);
  const std::int64_t least = std::stoll(text.substr(text.rfind(' ', end - 1) + 1));
  const PlannedTraining planned = within(least).Plan();
  CHECK(planned.plan.budget->planned_bytes <= least * kMegabyte);
  CHECK(planned.config.memory.memory_page_buffer_mb > 2);  // more than within 3 MB
  CHECK_FALSE(RefusalOf(within(least - 1)).empty());
}

TEST_CASE("a paged weight is read once in each pass, and for its update", "[paging]") {
  const TempDir directory(MemoryDirectory());
  const PlannedTraining planned =
      Wide(directory, std::nullopt)
          .Override({"memory.memory_page_kinds=Weights", "memory.memory_page_least_kb=1024"})
          .Plan();
  const PagingTraffic& step = planned.plan.steps.front().paged;
  const std::int64_t weights = 32 * kMegabyte;  // eight of 4 MB
  CHECK(step.in_bytes == (3 + 2) * weights);    // and two moments
  CHECK(step.out_bytes == (1 + 2) * weights);
}

// Queries, keys and values lie in one tensor, which is there once.
TEST_CASE("what attention keeps goes to the page file too", "[paging]") {
  const TempDir directory(MemoryDirectory());
  BudgetRun run{.network = "gpt"};
  run.memory.memory_page_file = directory.File("page");
  run.memory.memory_page_kinds = PagedKinds::kNone;
  run.memory.memory_page_activations_mb = 1024;
  run.memory.memory_page_least_kb = 1;
  run.memory.memory_page_buffer_mb = 2;
  const Plan plan = BuilderFor(run).Plan().plan;
  REQUIRE(plan.paging);
  std::int64_t of_attention = 0, of_wide = 0;
  for (const Holder& kept : plan.paging->activations) {
    if (kept.label.ends_with(".attn")) of_attention += kept.bytes;
    if (kept.label.ends_with(".c_fc")) of_wide += kept.bytes;
  }
  CHECK(of_attention > 0);
  // Three times its width and what comes out; four times that are behind the block's wide product.
  CHECK(of_attention == of_wide);
}

TEST_CASE("the curve of budgets shows keeping, computing again and paging", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const MemoryReport report = PlannedMemoryReport(Wide(directory, 40).Plan(), true);
  REQUIRE(report.curve);
  const BudgetCurve& curve = *report.curve;
  REQUIRE(curve.lines.size() == 6);
  std::int64_t floor = INT64_MAX;
  for (const auto& line : curve.lines) {
    for (std::size_t i = 1; i < line.size(); ++i) {
      CHECK(line[i].peak_bytes < line[i - 1].peak_bytes);
      CHECK(line[i].relative_time >= line[i - 1].relative_time);
      CHECK(line[i].paged.kinds == line[0].paged.kinds);
      CHECK(line[i].paged.activations == line[0].paged.activations);
    }
    floor = std::min(floor, line.back().peak_bytes);
  }
  CHECK(curve.lines[0].front().peak_bytes == curve.kept_peak_bytes);
  CHECK(curve.lines[0].front().paged == PagedParts());
  CHECK(curve.lines[1].front().paged == PagedParts{.activations = true});
  CHECK(curve.lines[5].back().peak_bytes == floor);  // with all in the file
  CHECK(curve.floor_bytes <= floor);
  CHECK(curve.points.back().peak_bytes == floor);
  CheckContains(MemoryText(report), "optimizer state and weights");
  CheckContains(MemoryPage(report), "What recomputation and a page file can do");
  CheckContains(MemoryPage(report), "class=\"curve5\"");
}

TEST_CASE("the curve of budgets shows parts of what forward passes keep", "[paging][budget]") {
  const TempDir directory(MemoryDirectory());
  const MemoryReport report =
      PlannedMemoryReport(BuilderFor(WithPagedActivations(directory, 1000)).Plan(), true);
  REQUIRE(report.curve);
  for (const std::size_t line : {1, 3, 5}) {
    CHECK(report.curve->lines.at(line).size() >= 4);  // three quarters, and all
  }
}

}  // namespace
}  // namespace frugal::testing
