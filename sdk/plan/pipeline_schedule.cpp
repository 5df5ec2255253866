#include "sdk/plan/pipeline_schedule.h"

#include <algorithm>

namespace frugal {
namespace {

using std::int64_t;
using Stage = std::vector<PipelineSlot>;

Stage GPipeStage(int64_t micro_batches) {
  Stage stage;
  for (int64_t i = 0; i < micro_batches; ++i) stage.push_back({SlotKind::kForward, i});
  for (int64_t i = 0; i < micro_batches; ++i) stage.push_back({SlotKind::kBackward, i});
  return stage;
}

// A stage runs ahead by as many forward passes as there are stages behind it.
Stage OneForwardOneBackwardStage(int64_t behind, int64_t micro_batches) {
  Stage stage;
  const int64_t ahead = std::min(behind, micro_batches);
  for (int64_t i = 0; i < ahead; ++i) stage.push_back({SlotKind::kForward, i});
  for (int64_t i = 0; i < micro_batches; ++i) {
    if (ahead + i < micro_batches) stage.push_back({SlotKind::kForward, ahead + i});
    stage.push_back({SlotKind::kBackward, i});
  }
  return stage;
}

// A stage runs `ahead` forward passes before its first input gradient, and its weight gradients are
// `delay` micro-batches late: those that are left at the end fill the time in which input gradients
// are on their way to the stages before.
Stage ZeroBubbleStage(int64_t ahead, int64_t delay, int64_t micro_batches) {
  Stage stage;
  for (int64_t i = 0; i < std::min(ahead, micro_batches); ++i) {
    stage.push_back({SlotKind::kForward, i});
  }
  for (int64_t i = 0; i < micro_batches; ++i) {
    stage.push_back({SlotKind::kInputGradient, i});
    if (i >= delay) stage.push_back({SlotKind::kWeightGradient, i - delay});
    if (ahead + i < micro_batches) stage.push_back({SlotKind::kForward, ahead + i});
  }
  for (int64_t i = std::max<int64_t>(0, micro_batches - delay); i < micro_batches; ++i) {
    stage.push_back({SlotKind::kWeightGradient, i});
  }
  return stage;
}

Stage StageOf(PipelineKind kind, int64_t stages, int64_t stage, int64_t micro_batches) {
  const int64_t behind = stages - 1 - stage;
  switch (kind) {
    case PipelineKind::kSequential:
      return OneForwardOneBackwardStage(0, micro_batches);
    case PipelineKind::kGPipe:
      return GPipeStage(micro_batches);
    case PipelineKind::k1F1B:
      return OneForwardOneBackwardStage(behind, micro_batches);
    case PipelineKind::kZeroBubble1:
      return ZeroBubbleStage(behind + 1, stage, micro_batches);
    case PipelineKind::kZeroBubble2:
      break;
  }
  return ZeroBubbleStage(2 * behind + 1, 2 * stage, micro_batches);
}

}  // namespace

bool SplitsBackward(PipelineKind kind) {
  return kind == PipelineKind::kZeroBubble1 || kind == PipelineKind::kZeroBubble2;
}

std::string_view NameOf(PipelineKind kind) {
  switch (kind) {
    case PipelineKind::kSequential:
      return "sequential";
    case PipelineKind::kGPipe:
      return "gpipe";
    case PipelineKind::k1F1B:
      return "1f1b";
    case PipelineKind::kZeroBubble1:
      return "zb_h1";
    case PipelineKind::kZeroBubble2:
      break;
  }
  return "zb_h2";
}

PipelineSchedule MakePipelineSchedule(PipelineKind kind, int64_t stages, int64_t micro_batches) {
  PipelineSchedule schedule{.kind = kind, .micro_batches = micro_batches, .stages = {}};
  for (int64_t stage = 0; stage < stages; ++stage) {
    schedule.stages.push_back(StageOf(kind, stages, stage, micro_batches));
  }
  return schedule;
}

int64_t MostInFlight(const Stage& stage) {
  int64_t in_flight = 0, most = 0;
  for (const PipelineSlot& slot : stage) {
    if (slot.kind == SlotKind::kForward) most = std::max(most, ++in_flight);
    if (slot.kind == SlotKind::kBackward || slot.kind == SlotKind::kWeightGradient) --in_flight;
  }
  return most;
}

}  // namespace frugal
