#include "builders/budget/candidate_planner.h"

#include <algorithm>
#include <limits>

#include "builders/dry_run/dry_training.h"
#include "sdk/core/error.h"
#include "sdk/core/threads.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"
#include "tests/support/random_network.h"
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

constexpr std::int64_t kAnyPlace = std::numeric_limits<std::int64_t>::max();

// A planner measures with what it has; one of its own is made anew each time.
void CheckAsMadeAnew(const TrainingSetup& setup, CandidatePlanner& planner,
                     const StepSettings& settings, const ChainChoice& chain) {
  CandidatePlanner anew(setup);
  const Footprint found = planner.Plan(settings, chain, kAnyPlace).footprint;
  const Footprint wanted = anew.Plan(settings, chain, kAnyPlace).footprint;
  CHECK(found.bytes == wanted.bytes);
  CHECK(found.peak_bytes == wanted.peak_bytes);
  CHECK(found.outside == wanted.outside);
  CHECK(found.at_peak == wanted.at_peak);
}

TEST_CASE("plans one after the other are as plans of their own", "[budget]") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    const PlannedTraining setup = RandomNetwork(seed).Plan();
    CandidatePlanner planner(setup);
    for (const bool in_backward : {false, true}) {
      StepSettings settings = SettingsOf(setup.config);
      settings.optimizer_in_backward = in_backward;
      const std::shared_ptr<ChainPlanner> chains = planner.ChainByModel(settings);
      CheckAsMadeAnew(setup, planner, settings, chains->keep_all());
      CheckAsMadeAnew(setup, planner, settings, chains->Least());
      for (const ChainChoice& known : chains->known()) {
        CheckAsMadeAnew(setup, planner, settings, known);
      }
      settings.micro_batches = std::min<std::int64_t>(2, setup.schedule.batch);
      CheckAsMadeAnew(setup, planner, settings, chains->Least());
    }
  }
}

TEST_CASE("what was checkpointed before changes no plan", "[budget]") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    const PlannedTraining setup = RandomNetwork(seed).Plan();
    const StepSettings settings = SettingsOf(setup.config);
    const Footprint wanted = CandidatePlanner(setup).Plan(settings, {}, kAnyPlace).footprint;
    const CheckpointOptions all = {.enabled = true, .residual_blocks = true};
    SetCheckpointSegments(*setup.network, all, {});
    CandidatePlanner planner(setup);
    const Footprint found = planner.Plan(settings, {}, kAnyPlace).footprint;
    CHECK(found.bytes == wanted.bytes);
    CHECK(found.at_peak == wanted.at_peak);
    planner.Plan(settings, planner.ChainByModel(settings)->Least(), kAnyPlace);
    CHECK(setup.network->segments().empty());
    CHECK_FALSE(setup.network->cuts_leaves());
  }
}

// A first step is not run where what it leaves can be taken; the second must find nothing missing.
TEST_CASE("a dry training that takes what stays is as one that ran a step", "[budget]") {
  const OptimizerOptions optimizers[] = {
      {.kind = OptimizerKind::kAdamW},
      {.kind = OptimizerKind::kAdamW, .state = StateFormat::k8Bit, .ema_decay = 0.9},
      {.kind = OptimizerKind::kSgd}};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const OptimizerOptions& optimizer : optimizers) {
      AiModelBuilder builder = RandomNetwork(seed);
      const PlannedTraining setup = builder.Optimizer(optimizer).Plan();
      Trial trial = TrialWith(setup, SettingsOf(setup.config));
      trial.settings.optimizer_in_backward = true;
      const std::vector<std::int64_t> counts = ContributionsFor(setup, trial);
      for (const bool in_backward : {false, true}) {
        CAPTURE(seed, in_backward);
        trial.settings.optimizer_in_backward = in_backward;
        trial.final_after = in_backward ? counts : std::vector<std::int64_t>();
        const std::int64_t batch = trial.schedule.batch;
        DryTraining ran(setup, trial), took(setup, trial);
        const StepPlan wanted = ran.Run(StepKind::kTrain, batch, 2);
        REQUIRE(took.TakeWhatStays(counts));
        const StepPlan found = took.Run(StepKind::kTrain, batch, 1);
        CHECK(found.baseline == wanted.baseline);
        CHECK(found.layout.arena_bytes == wanted.layout.arena_bytes);
        CHECK(found.flops == wanted.flops);
        CHECK(took.ledger().peak_total() == ran.ledger().peak_total());
        CHECK(took.ledger().at_peak() == ran.ledger().at_peak());
        CHECK(took.ledger().live() == ran.ledger().live());
      }
    }
  }
}

struct IdleOptions {};

// Holds a weight that no output depends on, so that no gradient of it comes.
class Idle final : public Layer {
 public:
  using Options = IdleOptions;
  Idle(const Shape& input, const Options&) {
    AddParameter("weight", {input.back()}, Initializer::Constant(1));
  }
  std::string Describe() const override { return "idle"; }

 private:
  Var Forward(Context&, const Var& input) override { return input; }
};

// A planner takes it that all parameters get gradients, until a step shows that some do not.
TEST_CASE("a plan is as its steps whichever parameters get gradients", "[budget]") {
  for (const std::string kind : {"norm", "idle", "frozen"}) {
    SmallRun run;
    run.network = "mlp";
    run.batch = 8;
    AiModelBuilder builder = BuilderFor(run);
    builder.Layers([&](LayerList& layers) {
      layers.Flatten().Dense({.units = 32}, "first");
      if (kind == "norm") layers.BatchNorm();
      if (kind == "idle") layers.Add<Idle>();
      layers.Dense({.units = 5});
    });
    if (kind == "frozen") builder.Freeze({"first"});
    const DataLayout layout = LayoutFor("mlp");
    const TrainingSetup setup = PrepareTraining(builder.config(), &layout);
    CandidatePlanner planner(setup);
    for (const bool in_backward : {false, true}) {
      CAPTURE(kind, in_backward);
      StepSettings settings = SettingsOf(setup.config);
      settings.optimizer_in_backward = in_backward;
      Trial trial = TrialWith(setup, settings);
      trial.final_after = ContributionsFor(setup, trial);
      DryTraining training(setup, trial);
      for (const PlannedStep& step : StepsOf(trial.schedule)) {
        if (step.kind == StepKind::kTrain) training.Trace(step.kind, step.batch, step.times);
      }
      const Footprint found = planner.Plan(settings, {}, kAnyPlace).footprint;
      CHECK(found.outside == training.ledger().live());
      CHECK(found.at_peak == training.ledger().at_peak());
      CHECK(planner.OutsideSteps(settings) == training.ledger().live());
    }
  }
}

SampledStages Timed(std::int64_t samples, double forward, double backward) {
  SampledStages timed{samples, std::vector<Stage>(1)};
  timed.stages[0].chain.forward_seconds = forward;
  timed.stages[0].chain.backward_seconds = backward;
  return timed;
}

TEST_CASE("times of more samples are those of few, and what each more takes", "[budget]") {
  std::vector<Stage> stages(1);
  const ChainStage& chain = stages[0].chain;
  // A second for a pass, and half a one for each sample; backward passes that take no less for
  // fewer.
  ExtrapolateTimes(Timed(2, 2, 4), Timed(4, 3, 4), 16, stages);
  CHECK(chain.forward_seconds == Approx(9));
  CHECK(chain.backward_seconds == Approx(4 + 12 * 0.5));
  ExtrapolateTimes(Timed(2, 1, 4), Timed(4, 4, 12), 8, stages);  // more each than on average
  CHECK(chain.forward_seconds == Approx(8));
  CHECK(chain.backward_seconds == Approx(24));
  for (const std::int64_t few : {0, 4}) {
    SampledStages none{few, {}};
    if (few == 4) none = Timed(4, 2, 2);
    ExtrapolateTimes(none, Timed(4, 3, 6), 8, stages);
    CHECK(chain.forward_seconds == Approx(6));
    CHECK(chain.backward_seconds == Approx(12));
  }
}

TEST_CASE("memory stands for other stages, as much as cores' caches hold and budgets leave",
          "[budget]") {
  std::vector<Stage> stages(2);
  stages[0].chain.saved_bytes = 1'000'000;
  const std::int64_t alone = BytesToRun(stages);
  CHECK(alone >= 1'000'000);
  constexpr std::int64_t kMuch = std::int64_t{1} << 50;
  stages[0].forward.bytes = 300;
  stages[1].forward.bytes = 700;
  CHECK(OthersBytes(stages, kMuch) == 1'000);
  CHECK(OthersBytes(stages, alone + 400) == 400);
  CHECK(OthersBytes(stages, alone / 2) == 0);
  stages[1].forward.bytes = 1e15;
  const std::int64_t caches = OwnCacheBytes() * MostThreads();
  CHECK(caches > 0);
  CHECK(OthersBytes(stages, kMuch) == 2 * caches);
}

}  // namespace
}  // namespace frugal::testing
