#include "builders/report/text/plan_text.h"

#include <sstream>

#include "builders/report/text/policy_text.h"
#include "tests/builders/report/sample_run.h"
#include "tests/catch.h"

namespace frugal {
namespace {

std::size_t WidestLine(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

}  // namespace

TEST_CASE("A plan is told in plain text") {
  CHECK(PlanText(SampleTraining()) == R"(Plan of sample
  parameters   1,234,567 (567 of them fixed)
  samples      320 to train on, 64 to test on
  steps        20 = 2 epochs x 10 batches of 32
  optimizer    adamw, lr 0.001
  computed by  oneDNN f32, 3 threads
  policy       checkpointing every 2 layers;
               activations in one arena, up to 4,096 MB kept between steps;
               weights from the process's pool, up to 256 MB idle; weights made at once

  path     layer                     output           parameters   keeps  segment
  conv1    conv2d 1 -> 8, 3x3        [32, 28, 28, 8]          80  4.9 KB  1 \
  block    residual around 2 layers  [32, 28, 28, 8]   1,234,487  2.9 KB    /
  flatten  flatten                   [32, 6272]                -       -
  all                                                  1,234,567  7.8 KB

  Memory by purpose  its own peak  at the peak of all
  parameter                2.0 KB              2.0 KB
  activation               7.8 KB              7.8 KB
  data                     1.0 KB              1.0 KB
  all together                                10.8 KB
  largest      activation of conv1: 4.9 KB; all parameter: 2.0 KB
  arena        8.8 KB, 12.50% over the lower bound of 7.8 KB; kept between steps: all of it

  Step   batch       work  recomputed     peak
  train     32  4.0 GFLOP      25.00%  10.8 KB

  Notes
  - sharding_strategy: with one device every strategy puts all layers on it
)");
}

TEST_CASE("An empty plan is text too") {
  const std::string text = PlanText(PlannedTraining());
  CHECK(Contains(text, "Plan of model\n"));
  CHECK(Contains(text, "\n  none\n"));
  CHECK_FALSE(Contains(text, "nan"));
}

TEST_CASE("Long and hostile names neither widen nor break the plan") {
  PlannedTraining planned = SampleTraining();
  planned.plan.layers[0].description = std::string(300, 'd');
  planned.plan.layers[1].path = std::string(200, 'p');
  planned.plan.layers[2].path = "line\nbreak\x1B[31m";
  const std::string text = PlanText(planned);
  CHECK(WidestLine(text) <= 100);
  CHECK(Contains(text, "line?break?[31m"));
  CHECK(Contains(text, "ddd..."));
}

TEST_CASE("Runs that are cut short and single segments are shown") {
  PlannedTraining planned = SampleTraining();
  planned.schedule.total_steps = 7;
  planned.plan.layers[1].segment = 1;
  planned.plan.arena_bytes = planned.plan.live_lower_bound_bytes;
  const std::string text = PlanText(planned);
  CHECK(Contains(text, "7 (max_steps) of 20 = 2 epochs x 10 batches of 32\n"));
  CHECK(Contains(text, " 1 -\n"));
  CHECK(Contains(text, " 2 -\n"));
  CHECK(Contains(text, "the least that any layout can do with"));
}

TEST_CASE("Without checkpointing and pooling there are no segments and no arena") {
  PlannedTraining planned = SampleTraining();
  planned.config.memory = TrainingMemoryConfig::FastConstruction();
  for (LayerPlan& layer : planned.plan.layers) layer.segment = -1;
  const std::string text = PlanText(planned);
  CHECK_FALSE(Contains(text, "segment"));
  CHECK_FALSE(Contains(text, "arena"));
  CHECK(Contains(text, "no checkpointing; activations from the heap"));
  CHECK(Contains(text, "weights made at first use"));
}

TEST_CASE("Policies and optimizers are told in phrases") {
  TrainingMemoryConfig memory = TrainingMemoryConfig::MemoryEfficient();
  memory.high_activation_memory_threshold_bytes = 1 << 20;
  memory.checkpoint_attention_layers = false;
  memory.max_memory_per_device_mb = 100;
  CHECK(PolicyPhrases(memory).front() == "checkpointing planned for the least peak");
  memory.checkpoint_planning = CheckpointPlanning::kFastest;
  CHECK(PolicyPhrases(memory).front() ==
        "checkpointing every layer (attention runs once, layers that keep over 1.0 MB on their "
        "own, or faster at no higher peak)");
  CHECK(PolicyPhrases(memory).back() == "at most 100 MB in all");
  CHECK(PolicyPhrases(TrainingMemoryConfig::ForTransferLearning("w.json")).back() ==
        "weights read from w.json");

  RunConfig config;
  config.optimizer = {.kind = OptimizerKind::kSgd, .lr = 0.1, .momentum = 0.9, .nesterov = true};
  config.schedule = {.kind = ScheduleKind::kStep, .warmup_steps = 1, .step_every = 100};
  config.training.clip_gradient_norm = 1;
  CHECK(OptimizerPhrases(config) ==
        std::vector<std::string>{"sgd", "lr 0.1", "momentum 0.9 (Nesterov)",
                                 "times 0.1 every 100 steps", "1 step warm-up",
                                 "gradients clipped to norm 1"});
  config.optimizer.state = StateFormat::k8Bit;
  CHECK(OptimizerPhrases(config).at(3) == "state in 8bit");
}

TEST_CASE("The preset is found by the origins of its values") {
  RunConfig config;
  CHECK(PresetOf(config).empty());
  config.origins.Set("memory.max_pool_memory_mb", Origin::Preset("ForConvNets"));
  CHECK(PresetOf(config) == "ForConvNets");
  config.origins.Set("memory.max_pool_memory_mb",
                     Origin::Preset("ForConvNets", {"some/where/train.toml", 7, 1}));
  CHECK(PresetOf(config) == "ForConvNets (train.toml:7)");
}

}  // namespace frugal
