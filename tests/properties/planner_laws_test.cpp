#include "tests/support/planner_laws.h"

#include "builders/plan/published_models.h"
#include "tests/support/budget_runs.h"
#include "tests/support/random_network.h"

namespace frugal::testing {
namespace {

void CheckLaws(const TrainingSetup& setup, int budgets, const std::string& name) {
  const PlannerLaws laws = TestPlannerLaws(setup, budgets);
  INFO(name << ": of " << laws.budgets << " budgets " << laws.fits << " fit, " << laws.over
            << " over, " << laws.higher << " higher, " << laws.slower << " slower, " << laws.refused
            << " refused");
  CHECK(laws.fits > budgets / 2);
  CHECK(laws.broken() == 0);
}

TEST_CASE("the planner's laws hold for random networks", "[budget]") {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    CheckLaws(RandomNetwork(seed).Plan(), 40, "network " + std::to_string(seed));
  }
}

TEST_CASE("the planner's laws hold for networks of each kind", "[budget]") {
  for (const std::string name : {"gpt", "vit", "resnet"}) {
    CheckLaws(BuilderFor(BudgetRun{.network = name}).Plan(), 60, name);
  }
}

// Fewer schedules of so many layers are planned whole.
TEST_CASE("the planner's laws hold for a network of many layers", "[budget]") {
  const DataLayout layout = {
      .sample_shape = {32}, .classes = 5, .target_shape = {}, .train_count = 640};
  AiModelBuilder builder;
  builder.Data(layout, SyntheticSources(layout)).Layers([](LayerList& list) {
    for (int i = 0; i < 250; ++i) list.Dense({.units = 32 + 32 * (i % 3)});
    list.Dense({.units = 5});
  });
  CheckLaws(builder.Training({.batch_size = 64}).Plan(), 16, "250 layers");
}

// `./run bench planner` tries 200 budgets of these and others.
TEST_CASE("the planner's laws hold for published models", "[budget]") {
  for (const std::string name : {"resnet-50", "dit-s-2", "gpt2"}) {
    CheckLaws(PlanNamedModel(name, {"training.batch_size=4"}), 16, name);
  }
}

}  // namespace
}  // namespace frugal::testing
