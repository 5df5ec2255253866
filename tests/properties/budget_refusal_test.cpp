// A training that does not fit a memory budget is refused with a sentence and alternatives that are
// true.
#include "builders/budget/budget_refusal.h"

#include <regex>

#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "tests/support/budget_runs.h"

namespace frugal::testing {
namespace {

TEST_CASE("what cannot fit is refused, and every alternative that is named is true", "[budget]") {
  BudgetRun run{.network = "vit", .budget_mb = 8, .batch = 64};
  AiModelBuilder builder = BuilderFor(run);
  builder.Override({"memory.optimizer_in_backward=false", "training.gradient_accumulation_steps=1",
                    "training.evaluation_batch_size=16"});
  const std::string text = RefusalOf(builder);
  CHECK(text.find("cannot train within 8 MB: ") != std::string::npos);
  CHECK(text.find(" MB is the least this model can use here") != std::string::npos);
  CHECK(text.find(" MB without recomputation; of the floor, ") != std::string::npos);
  CHECK(text.find("MB are activations") != std::string::npos);
  CHECK(text.find("a smaller batch (64 -> ") != std::string::npos);
  CHECK(text.find(" would bring it to ") != std::string::npos);

  const DataLayout layout = LayoutOfLarge("vit");
  const TrainingSetup setup = PrepareTraining(builder.config(), &layout);
  const std::int64_t budget = 8 * kBytesPerMegabyte;
  const BudgetCandidate found = BudgetSearch(setup, budget).Least();
  const std::int64_t least = found.footprint.bytes;
  CHECK(least > budget);
  const auto alternatives = AlternativesFor(builder.config(), &layout, budget, found);
  REQUIRE_FALSE(alternatives.empty());
  for (const BudgetAlternative& one : alternatives) {
    INFO(one.words);
    CHECK(text.find(one.words) != std::string::npos);
    CHECK(one.least_bytes < least);
    RunConfig config = one.config;
    config.memory.memory_budget_mb = MemoryBudget{Megabytes(one.least_bytes), 0};
    const Plan plan = PlanTraining(config, &layout).plan;
    CHECK(plan.budget->planned_bytes <= Megabytes(one.least_bytes) * kBytesPerMegabyte);
  }
}

TEST_CASE("the smaller batch that is named is the largest that fits", "[budget]") {
  BudgetRun run{.network = "resnet", .budget_mb = 6};
  const std::string text = RefusalOf(BuilderFor(run));
  const std::string before = "a smaller batch (16 -> ";
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  run.batch = std::stoll(text.substr(at + before.size()));
  CHECK(BuilderFor(run).Plan().plan.budget->planned_bytes <= 6 * kBytesPerMegabyte);
  ++run.batch;
  CHECK_FALSE(RefusalOf(BuilderFor(run)).empty());
}

TEST_CASE("a batch that cannot be normalized is no alternative", "[budget]") {
  AiModelBuilder builder = BuilderFor({.network = "resnet", .budget_mb = 1});
  builder.Layers([](LayerList& layers) {
    layers.Flatten().Dense({.units = 32}).BatchNorm().Dense({.units = 5});
  });
  const std::string text = RefusalOf(builder);
  CHECK(text.find("cannot train within 1 MB: ") != std::string::npos);
}

TEST_CASE("a refusal of a share of all memory says less than the floor", "[budget]") {
  AiModelBuilder builder = BuilderFor(BudgetRun{.network = "gpt"});
  builder.Override({"memory.memory_budget_mb=\"0.00001%\""});
  CHECK(RefusalOf(builder).find("cannot train within 0 MB (1e-05% of the ") != std::string::npos);
}

TEST_CASE("a refusal names what is stated", "[budget]") {
  AiModelBuilder builder = BuilderFor({.network = "vit", .budget_mb = 1});
  builder.Override({"memory.use_gradient_checkpointing=true"});
  CHECK(RefusalOf(builder).find(" MB with nothing chosen; of the floor, ") != std::string::npos);
  builder.Override(
      {"memory.use_gradient_checkpointing=false", "training.gradient_accumulation_steps=1"});
  const std::string text = RefusalOf(builder);
  CHECK(text.find("gradient_accumulation_steps = 16 to ") != std::string::npos);
  CHECK(text.find("a smaller batch (16 -> 1) to ") != std::string::npos);
  CHECK(text.find("or all of these together (gradient_accumulation_steps = 1) to ") !=
        std::string::npos);
}

TEST_CASE("many layers whose weights alone pass the budget are refused by those", "[budget]") {
  RunConfig config = NamedModelConfig("gpt2", {"model.config.n_layer=201"});
  const DataLayout layout = LayoutWithoutData(config);
  const TrainingSetup setup = PrepareTraining(config, &layout);
  const std::int64_t budget = 5000 * kBytesPerMegabyte;
  BudgetSearch search(setup, budget);
  const std::int64_t outside = search.OutsideSteps().Total();
  REQUIRE(outside > budget);
  const std::string text =
      NothingFitsText(config, &layout, {.bytes = budget, .origin = {.megabytes = 5000}}, search);
  CHECK(text.starts_with("cannot train within 5,000 MB: " + WholeMegabytes(outside) +
                         " are taken before a step begins, of which "));

  const std::string cure = "; optimizer state = \"8bit\" would bring it to ";
  REQUIRE(text.find(cure) != std::string::npos);
  config.optimizer.state = StateFormat::k8Bit;
  const TrainingSetup narrow = PrepareTraining(config, &layout);
  const BytesByTag narrowed = BudgetSearch(narrow, budget).OutsideSteps();
  CHECK(narrowed.Total() < outside);
  CHECK(text.find(cure + WholeMegabytes(narrowed.Total())) != std::string::npos);
}

TrainingMemoryConfig Within(const MemoryBudget& budget) {
  TrainingMemoryConfig memory;
  memory.memory_budget_mb = budget;
  return memory;
}

TEST_CASE("a budget above the limit of a device is planned within that limit", "[budget]") {
  AiModelBuilder builder = BuilderFor(BudgetRun{.network = "gpt", .budget_mb = 1000});
  const std::int64_t floor = FloorOf(builder);
  builder.Override({"memory.max_memory_per_device_mb=" + std::to_string(floor)});
  const PlannedTraining planned = builder.Plan();
  REQUIRE(planned.plan.budget);
  CHECK(planned.plan.budget->planned_bytes <= floor * kBytesPerMegabyte);
  builder.Override({"memory.max_memory_per_device_mb=" + std::to_string(floor - 1)});
  const std::string text = RefusalOf(builder);
  CHECK(text.find("[memory.max_memory_per_device_mb] cannot train within ") != std::string::npos);
}

TEST_CASE("a share of the machine is resolved and said", "[budget]") {
  const SystemMemory machine = {.physical_bytes = 8000 * kBytesPerMegabyte};
  const BudgetLimit share = ResolveBudget(Within({.percent = 12.5}), machine);
  CHECK(share.bytes == 1000 * kBytesPerMegabyte);
  CHECK(SourceText(share.origin) == "12.5% of the 8,000 MB of physical memory");
  const SystemMemory group = {.physical_bytes = 8000 * kBytesPerMegabyte,
                              .control_group_bytes = 2000 * kBytesPerMegabyte};
  CHECK(ResolveBudget(Within({.percent = 50}), group).bytes == 1000 * kBytesPerMegabyte);
  CHECK(SourceText(ResolveBudget(Within({.percent = 50}), group).origin) ==
        "50% of the 2,000 MB of the control group");
  const SystemMemory busy = {.physical_bytes = 8000 * kBytesPerMegabyte,
                             .available_bytes = 3000 * kBytesPerMegabyte};
  CHECK(ResolveBudget(Within({.percent = 25}), busy).bytes == 2000 * kBytesPerMegabyte);
  CHECK(ResolveBudget(Within({.percent = 50}), busy).bytes == 3000 * kBytesPerMegabyte);
  CHECK(SourceText(ResolveBudget(Within({.percent = 50}), busy).origin) ==
        "what is free now, less than 50% of the 8,000 MB of physical memory");
  TrainingMemoryConfig both = Within({.megabytes = 3000});
  CHECK(ResolveBudget(both, group).bytes == 3000 * kBytesPerMegabyte);
  both.max_memory_per_device_mb = 4000;
  CHECK(SourceText(ResolveBudget(both, group).origin) == "memory_budget_mb = 3000");
  both.max_memory_per_device_mb = 2000;
  CHECK(ResolveBudget(both, group).bytes == 2000 * kBytesPerMegabyte);
  CHECK(SourceText(ResolveBudget(both, group).origin) == "max_memory_per_device_mb = 2000");
  const std::regex pattern{std::string(kPercentPattern)};
  for (const char* text : {"70%", "0.5 %", "100%", ".5%", "5.%", "100.0%", "007%"}) {
    INFO(text);
    CHECK(ParsePercent(text));
    CHECK(std::regex_match(text, pattern));
  }
  for (const char* text : {"0%", "0.0%", "130%", "500%", "100.1%", "abc", "%", ".%", "-5%", "70",
                           "", "7e1%", "nan%"}) {
    INFO(text);
    CHECK_FALSE(ParsePercent(text));
    CHECK_FALSE(std::regex_match(text, pattern));
  }
  const std::string small = "0." + std::string(40, '0') + "1%";
  CHECK(PercentText({.percent = *ParsePercent(small)}) == small);
}

}  // namespace
}  // namespace frugal::testing
