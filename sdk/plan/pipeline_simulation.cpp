#include "sdk/plan/pipeline_simulation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "sdk/core/error.h"

namespace frugal {
namespace {

// Ends of what other stages wait for, by micro-batch.
struct StageEnds {
  std::vector<std::optional<double>> forward, input_gradient;
};

class PipelineRun {
 public:
  PipelineRun(const PipelineSchedule& schedule, const PipelineCosts& costs)
      : schedule_(schedule), costs_(costs), ends_(schedule.stages.size()) {
    const auto micro_batches = static_cast<std::size_t>(schedule.micro_batches);
    for (StageEnds& ends : ends_) {
      ends.forward.resize(micro_batches);
      ends.input_gradient.resize(micro_batches);
    }
    times_.slots.resize(schedule.stages.size());
  }

  PipelineTimes Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < ends_.size(); ++stage) {
        while (RunNext(stage)) moved = true;
      }
    }
    for (std::size_t stage = 0; stage < ends_.size(); ++stage) CheckDone(stage);
    return std::move(times_);
  }

 private:
  // Returns when what the slot needs is there; nothing where that has not run.
  std::optional<double> ReadyAt(std::size_t stage, const PipelineSlot& slot) const {
    const auto number = static_cast<std::size_t>(slot.micro_batch);
    const auto arrived = [&](const std::optional<double>& end) -> std::optional<double> {
      return end ? std::optional(*end + costs_.link) : std::nullopt;
    };
    switch (slot.kind) {
      case SlotKind::kForward:
        return stage == 0 ? 0.0 : arrived(ends_[stage - 1].forward[number]);
      case SlotKind::kBackward:
      case SlotKind::kInputGradient: {
        if (!ends_[stage].forward[number]) return std::nullopt;
        if (stage + 1 == ends_.size()) return ends_[stage].forward[number];
        return arrived(ends_[stage + 1].input_gradient[number]);
      }
      case SlotKind::kWeightGradient:
        break;
    }
    return ends_[stage].input_gradient[number];
  }

  double SecondsOf(std::size_t stage, SlotKind kind) const {
    const StageSeconds& seconds = costs_.stages[stage];
    switch (kind) {
      case SlotKind::kForward:
        return costs_.call + seconds.forward;
      case SlotKind::kBackward:
        return costs_.call + seconds.input_gradient + seconds.weight_gradient;
      case SlotKind::kInputGradient:
        return costs_.call + seconds.input_gradient;
      case SlotKind::kWeightGradient:
        break;
    }
    return costs_.call + seconds.weight_gradient;
  }

  bool RunNext(std::size_t stage) {
    std::vector<SlotTime>& done = times_.slots[stage];
    const std::vector<PipelineSlot>& slots = schedule_.stages[stage];
    if (done.size() == slots.size()) return false;
    const PipelineSlot& slot = slots[done.size()];
    const std::optional<double> ready = ReadyAt(stage, slot);
    if (!ready) return false;
    const double begin = std::max(*ready, done.empty() ? 0 : done.back().end);
    const double end = begin + SecondsOf(stage, slot.kind);
    done.push_back({begin, end});
    const auto number = static_cast<std::size_t>(slot.micro_batch);
    if (slot.kind == SlotKind::kForward) ends_[stage].forward[number] = end;
    if (slot.kind == SlotKind::kBackward || slot.kind == SlotKind::kInputGradient) {
      ends_[stage].input_gradient[number] = end;
    }
    return true;
  }

  void CheckDone(std::size_t stage) const {
    const std::size_t done = times_.slots[stage].size();
    if (done == schedule_.stages[stage].size()) return;
    throw UsageError({.where = "pipeline schedule",
                      .required = "every slot gets what it needs",
                      .given = "stage " + std::to_string(stage) + " waits for ever at its slot " +
                               std::to_string(done),
                      .advice = {}});
  }

  const PipelineSchedule& schedule_;
  const PipelineCosts& costs_;
  std::vector<StageEnds> ends_;
  PipelineTimes times_;
};

}  // namespace

double PipelineTimes::Seconds() const {
  double end = 0;
  for (const auto& stage : slots) {
    if (!stage.empty()) end = std::max(end, stage.back().end);
  }
  return end;
}

double PipelineTimes::BubbleOf(std::size_t stage) const {
  const std::vector<SlotTime>& times = slots[stage];
  if (times.empty()) return 0;
  double busy = 0;
  for (const SlotTime& time : times) busy += time.end - time.begin;
  return times.back().end - times.front().begin - busy;
}

double PipelineTimes::Bubble() const {
  double longest = 0;
  for (std::size_t stage = 0; stage < slots.size(); ++stage) {
    longest = std::max(longest, BubbleOf(stage));
  }
  return longest;
}

PipelineTimes SimulatePipeline(const PipelineSchedule& schedule, const PipelineCosts& costs) {
  if (costs.stages.size() != schedule.stages.size()) {
    throw UsageError({.where = "SimulatePipeline",
                      .required = "costs are given for each of the schedule's " +
                                  std::to_string(schedule.stages.size()) + " stages",
                      .given = "those of " + std::to_string(costs.stages.size()),
                      .advice = {}});
  }
  return PipelineRun(schedule, costs).Run();
}

}  // namespace frugal
