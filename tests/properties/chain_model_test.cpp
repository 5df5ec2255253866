// These tests compare what a network's chain says of schedules, and what the search makes of it,
// with dry runs of whole steps.
#include <algorithm>
#include <functional>
#include <random>

#include "builders/budget/frontier_search.h"
#include "builders/budget/stage_times.h"
#include "builders/plan/one_device_planner.h"
#include "builders/plan/published_models.h"
#include "sdk/plan/chain_bound.h"
#include "tests/support/budget_runs.h"

namespace frugal::testing {
namespace {

// Segments of [begin, end) with segments inside, at random.
CheckpointSegments RandomSegments(std::size_t begin, std::size_t end, std::mt19937_64& random) {
  CheckpointSegments segments;
  while (begin < end) {
    const std::size_t length = std::min<std::size_t>(end - begin, 1 + random() % 6);
    if (random() % 3 > 0) {
      segments.push_back({begin, begin + length});
      if (length > 2 && random() % 2 == 0) {
        segments.back().inner = RandomSegments(begin, begin + length - 1, random);
      }
    }
    begin += length;
  }
  return segments;
}

AiModelBuilder DenoiserBuilder(const ArchitectureConfig& architecture) {
  DataLayout layout = LayoutOfLarge("resnet");
  AiModelBuilder builder;
  builder.Architecture(architecture)
      .Data(layout, SyntheticSources(layout))
      .Diffusion({.kind = DiffusionKind::kNoise});
  return builder.Training({.batch_size = 8, .evaluation_batch_size = 8});
}

AiModelBuilder BuilderOf(const std::string& name) {
  if (name == "unet") {
    return DenoiserBuilder(
        UNetConfig{.sample_size = 32,
                   .down_block_types = {"DownBlock2D", "AttnDownBlock2D", "DownBlock2D"},
                   .up_block_types = {"UpBlock2D", "AttnUpBlock2D", "UpBlock2D"},
                   .block_out_channels = {16, 32, 32},
                   .norm_num_groups = 8});
  }
  if (name == "dit") {
    return DenoiserBuilder(DitConfig{.input_size = 32,
                                     .patch_size = 4,
                                     .in_channels = 3,
                                     .hidden_size = 48,
                                     .depth = 8,
                                     .num_heads = 3,
                                     .num_classes = 10,
                                     .learn_sigma = false});
  }
  if (name.ends_with("uvit")) {
    return DenoiserBuilder(UVitConfig{.img_size = 32,
                                      .patch_size = 4,
                                      .in_chans = 3,
                                      .embed_dim = 48,
                                      .depth = name == "uvit" ? 9 : 5,
                                      .num_heads = 3});
  }
  BudgetRun run{.network = name.starts_with("resnet") ? "resnet" : name};
  run.memory.optimizer_in_backward = name.ends_with("updated in backward");
  return BuilderFor(run);
}

std::int64_t PeakOf(const PlannedTraining& planned, const CheckpointSegments& segments) {
  planned.network->SetLeafSegments(segments);
  return PlanStep(planned, StepKind::kTrain, planned.schedule.batch).layout.lower_bound_bytes;
}

// The bytes beside the chain are a constant, which the search finds out.
void CheckBytesBeside(const PlannedTraining& planned, const std::string& name, int schedules) {
  const Chain chain = ChainOf(MeasureStages(planned, TrialOf(planned)));
  CHECK(chain.carried.empty() == (name != "unet" && name != "uvit"));
  const std::int64_t whole = PeakOf(planned, {});
  std::vector<std::int64_t> beside = {whole - Simulate(chain, {}).peak_bytes};
  std::mt19937_64 random(name.size());
  for (int i = 0; i < schedules; ++i) {
    const CheckpointSegments segments = RandomSegments(0, chain.size() - 1, random);
    beside.push_back(PeakOf(planned, segments) - Simulate(chain, segments).peak_bytes);
  }
  const auto [least, most] = std::ranges::minmax(beside);
  INFO(name << ": " << least << " to " << most << " bytes beside the chain, of " << whole);
  CHECK(most - least <= 4096);
}

TEST_CASE("the chain of a network knows what schedules take beside each other",
          "[builders][budget]") {
  for (const std::string name :
       {"gpt", "vit", "resnet", "resnet updated in backward", "dit", "unet", "uvit"}) {
    CheckBytesBeside(BuilderOf(name).Plan(), name, 50);
  }
}

// Sums of many blocks lie in rows, and are read by the blocks that make them as well as behind.
TEST_CASE("the chain of a ResNet-50 knows what schedules take beside each other",
          "[builders][budget]") {
  const PlannedTraining planned =
      PlanNamedModel("resnet-50", {"training.batch_size=4", "memory.optimizer_in_backward=true"});
  CheckBytesBeside(planned, "resnet-50", 25);
}

TEST_CASE("an output that no stage behind reads is made again by its own backward pass",
          "[builders][budget]") {
  const PlannedTraining planned = BuilderOf("resnet").Plan();
  const std::vector<Stage> stages = MeasureStages(planned, TrialOf(planned));
  // The mean over positions behind the last block reads no input backward.
  const auto last = std::ranges::find_if(stages, [&](const Stage& stage) {
    return stage.chain.rematerialized_bytes > 0 && !(&stage + 1)->reads_input;
  });
  REQUIRE(last != stages.end());
  CHECK(last->chain.backward_workspace == last->chain.ending_backward_workspace);
  CHECK(last->reads_input);  // so what the blocks before it give out is read
}

TEST_CASE("a stage that hands its input on has it as its output", "[builders][budget]") {
  const PlannedTraining planned = BuilderOf("gpt").Plan();
  const std::vector<Stage> stages = MeasureStages(planned, TrialOf(planned));
  const Stage& head = stages[stages.size() - 2];  // the loss takes over its projection
  CHECK(head.hands_on);
  CHECK(head.chain.output_bytes == stages[stages.size() - 3].chain.output_bytes);
  CHECK(head.chain.saved_bytes == 0);
}

void EachFlatSchedule(std::size_t at, std::size_t end, CheckpointSegments& before,
                      const std::function<void(const CheckpointSegments&)>& take) {
  if (at == end) return take(before);
  EachFlatSchedule(at + 1, end, before, take);
  for (std::size_t stop = at + 1; stop <= end; ++stop) {
    before.push_back({at, stop});
    EachFlatSchedule(stop, end, before, take);
    before.pop_back();
  }
}

// A ResNet's sums are rematerialized, of gradients that updates free some are as large as its
// activations, and a U-ViT has skips.
TEST_CASE("the search finds what trying all schedules would", "[builders][budget]") {
  for (const std::string name : {"resnet", "resnet updated in backward", "small uvit"}) {
    const PlannedTraining planned = BuilderOf(name).Plan();
    std::vector<Stage> stages = MeasureStages(planned, TrialOf(planned));
    ModelTimes(planned.dtype(), stages);
    ChainPlanner planner(ChainOf(stages));
    struct Tried {
      std::int64_t bytes = 0;
      double seconds = 0;
    };
    std::vector<Tried> all;
    CheckpointSegments none;
    EachFlatSchedule(0, stages.size() - 1, none, [&](const CheckpointSegments& segments) {
      all.push_back({PeakOf(planned, segments), planner.CostOf(segments).seconds});
    });
    const auto [least, most] = std::ranges::minmax(all, {}, &Tried::bytes);
    double slower = 0;
    constexpr int kBudgets = 16;
    for (int i = 0; i <= kBudgets; ++i) {
      const std::int64_t budget = least.bytes + (most.bytes - least.bytes) * i / kBudgets;
      double fastest = 1e9;
      for (const Tried& one : all) {
        if (one.bytes <= budget) fastest = std::min(fastest, one.seconds);
      }
      FrontierSearch search(planner, [&](const ChainChoice& choice) {
        BudgetCandidate candidate;
        candidate.chain = choice;
        candidate.footprint.bytes = PeakOf(planned, choice.segments);
        candidate.footprint.peak_bytes = candidate.footprint.bytes;
        candidate.seconds = choice.cost.seconds;
        return candidate;
      });
      const auto found = search.Fastest(budget, {});
      INFO(name << ": " << budget << " bytes");
      REQUIRE(found);
      CHECK(found->footprint.bytes <= budget);
      CHECK(found->seconds <= 1.01 * fastest);
      slower += found->seconds / fastest - 1;
      const std::int64_t beside =
          std::min(PeakOf(planned, {}) - planner.keep_all().cost.peak_bytes,
                   found->footprint.peak_bytes - found->chain.cost.peak_bytes);
      const ChainBound bound(planner.chain(), budget - beside);
      CHECK(bound.LeastSeconds(budget - beside) <= fastest * (1 + 1e-9));
    }
    CHECK(slower <= 0.002 * kBudgets);
  }
}

}  // namespace
}  // namespace frugal::testing
