#include "builders/budget/candidate_planner.h"

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

// One sample has no batch statistics, so parts of one sample cannot be planned.
TEST_CASE("a way to train that cannot be planned leaves nothing behind", "[budget]") {
  SmallRun run;
  run.network = "mlp";
  run.batch = 8;
  AiModelBuilder builder = BuilderFor(run);
  builder.Layers([](LayerList& layers) {
    layers.Flatten().Dense({.units = 32}).BatchNorm().Dense({.units = 5});
  });
  const DataLayout layout = LayoutFor("mlp");
  const TrainingSetup setup = PrepareTraining(builder.config(), &layout);
  CandidatePlanner planner(setup);
  StepSettings settings = SettingsOf(setup.config);
  settings.micro_batches = 8;
  ChainChoice chain;
  chain.segments = {{0, 2}};
  CHECK_THROWS_AS(planner.Plan(settings, chain, 0), Error);
  CHECK(setup.schedule.batch == 8);
  CHECK(setup.network->segments().empty());
  CHECK_FALSE(setup.network->cuts_leaves());
}

}  // namespace
}  // namespace frugal::testing
