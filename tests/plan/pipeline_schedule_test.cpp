// Schedules of a pipeline: complete, free of deadlock, in the memory they promise, and with the
// bubbles that the published formulas say where their assumptions hold.
#include "sdk/plan/pipeline_schedule.h"

#include <random>
#include <set>

#include "sdk/core/error.h"
#include "sdk/plan/pipeline_simulation.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

constexpr PipelineKind kKinds[] = {PipelineKind::kGPipe, PipelineKind::k1F1B,
                                   PipelineKind::kZeroBubble1, PipelineKind::kZeroBubble2};

PipelineCosts Uniform(std::int64_t stages, const StageSeconds& seconds) {
  return {.stages = std::vector<StageSeconds>(static_cast<std::size_t>(stages), seconds)};
}

TEST_CASE("every micro-batch runs once at each stage, and backward in order", "[pipeline]") {
  for (const PipelineKind kind : kKinds) {
    for (std::int64_t stages = 1; stages <= 6; ++stages) {
      for (std::int64_t micro_batches = 1; micro_batches <= 13; ++micro_batches) {
        INFO(NameOf(kind) << " " << stages << " x " << micro_batches);
        const auto schedule = MakePipelineSchedule(kind, stages, micro_batches);
        REQUIRE(std::ssize(schedule.stages) == stages);
        for (const auto& stage : schedule.stages) {
          std::int64_t next[4] = {};
          for (const PipelineSlot& slot : stage) {
            CHECK(slot.micro_batch == next[static_cast<std::size_t>(slot.kind)]++);
          }
          CHECK(next[0] == micro_batches);
          const bool whole = next[1] == micro_batches && next[2] == 0 && next[3] == 0;
          const bool split = next[1] == 0 && next[2] == micro_batches && next[3] == micro_batches;
          CHECK((kind == PipelineKind::kGPipe || kind == PipelineKind::k1F1B ? whole : split));
        }
        const auto times = SimulatePipeline(schedule, Uniform(stages, {1, 1, 1}));
        CHECK(times.Seconds() >= 3.0 * static_cast<double>(micro_batches));
      }
    }
  }
}

TEST_CASE("schedules hold as many micro-batches as they promise", "[pipeline]") {
  for (std::int64_t stages = 1; stages <= 6; ++stages) {
    for (const std::int64_t micro_batches : {1, 3, 20}) {
      for (std::int64_t stage = 0; stage < stages; ++stage) {
        INFO(stages << " x " << micro_batches << ", stage " << stage);
        const auto held = [&](PipelineKind kind) {
          const auto schedule = MakePipelineSchedule(kind, stages, micro_batches);
          return MostInFlight(schedule.stages[static_cast<std::size_t>(stage)]);
        };
        CHECK(held(PipelineKind::kGPipe) == micro_batches);
        CHECK(held(PipelineKind::k1F1B) == std::min(stages - stage, micro_batches));
        CHECK(held(PipelineKind::kZeroBubble1) <= std::min(stages, micro_batches));
        CHECK(held(PipelineKind::kZeroBubble2) <= std::min(2 * stages - 1, micro_batches));
      }
    }
  }
}

// The formulas of arXiv 2401.10241 (table 3 and section 2) assume stages that take as long, links
// that take no time, and enough micro-batches.
TEST_CASE("bubbles are as published where stages take as long", "[pipeline]") {
  for (std::int64_t stages = 1; stages <= 6; ++stages) {
    const std::int64_t micro_batches = 4 * stages;
    const auto others = static_cast<double>(stages - 1);
    const auto bubble = [&](PipelineKind kind, const StageSeconds& seconds) {
      return SimulatePipeline(MakePipelineSchedule(kind, stages, micro_batches),
                              Uniform(stages, seconds))
          .Bubble();
    };
    for (const double forward : {1.0, 0.5}) {
      INFO(stages << " stages, forward " << forward);
      const StageSeconds seconds = {forward, 1, 1};
      CHECK(bubble(PipelineKind::kGPipe, seconds) == Approx(others * (forward + 2)).margin(1e-9));
      CHECK(bubble(PipelineKind::k1F1B, seconds) == Approx(others * (forward + 2)).margin(1e-9));
    }
    const StageSeconds even = {1, 1, 1};
    CHECK(bubble(PipelineKind::kZeroBubble1, even) == Approx(others * (1 + 1 - 1)).margin(1e-9));
    CHECK(bubble(PipelineKind::kZeroBubble2, even) == Approx(0).margin(1e-9));
  }
}

TEST_CASE("no slot begins before what it needs has come over the link", "[pipeline]") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> seconds(0.1, 2);
  for (int round = 0; round < 60; ++round) {
    const auto stages = static_cast<std::int64_t>(1 + random() % 5);
    const auto micro_batches = static_cast<std::int64_t>(1 + random() % 9);
    PipelineCosts costs{.stages = {}, .call = seconds(random), .link = seconds(random)};
    for (std::int64_t i = 0; i < stages; ++i) {
      costs.stages.push_back({seconds(random), seconds(random), seconds(random)});
    }
    for (const PipelineKind kind : kKinds) {
      const auto schedule = MakePipelineSchedule(kind, stages, micro_batches);
      const auto times = SimulatePipeline(schedule, costs);
      const auto find = [&](std::size_t stage, SlotKind slot_kind, std::int64_t micro_batch) {
        const auto& slots = schedule.stages[stage];
        const auto at = std::ranges::find(slots, PipelineSlot{slot_kind, micro_batch});
        return times.slots[stage][static_cast<std::size_t>(at - slots.begin())];
      };
      const bool whole = kind == PipelineKind::kGPipe || kind == PipelineKind::k1F1B;
      const SlotKind backward = whole ? SlotKind::kBackward : SlotKind::kInputGradient;
      for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
        double before = 0;
        for (const SlotTime& time : times.slots[stage]) {
          CHECK(time.begin >= before);
          before = time.end;
        }
        for (std::int64_t i = 0; i < micro_batches && stage > 0; ++i) {
          CHECK(find(stage, SlotKind::kForward, i).begin >=
                find(stage - 1, SlotKind::kForward, i).end + costs.link);
          CHECK(find(stage - 1, backward, i).begin >= find(stage, backward, i).end + costs.link);
        }
      }
    }
  }
}

TEST_CASE("a schedule whose stages wait for each other is refused", "[pipeline]") {
  PipelineSchedule schedule = MakePipelineSchedule(PipelineKind::k1F1B, 2, 2);
  std::swap(schedule.stages[0][0], schedule.stages[0][2]);  // backward before forward
  CHECK_THROWS_AS(SimulatePipeline(schedule, Uniform(2, {1, 1, 1})), UsageError);
  CHECK_THROWS_WITH(SimulatePipeline(schedule, Uniform(3, {1, 1, 1})),
                    "[SimulatePipeline] costs are given for each of the schedule's 2 stages; "
                    "those of 3");
}

}  // namespace
}  // namespace frugal::testing
