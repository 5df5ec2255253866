#include "builders/report/rows/step_choice.h"

#include <algorithm>

namespace frugal {

const StepPlan* MainStepOf(const Plan& plan, std::int64_t batch) {
  if (const StepPlan* full = plan.Find(StepKind::kTrain, batch)) return full;
  const auto found = std::ranges::find(plan.steps, StepKind::kTrain, &StepPlan::kind);
  return found == plan.steps.end() ? nullptr : &*found;
}

BytesByTag BytesAtPeakOf(const StepPlan& step) {
  BytesByTag bytes = step.baseline;
  const MemoryTimeline& timeline = step.timeline;
  if (timeline.peak_event >= timeline.live.size()) return bytes;
  for (const MemoryTag tag : kAllMemoryTags) bytes[tag] += timeline.live[timeline.peak_event][tag];
  return bytes;
}

std::int64_t PeakBytesOf(const StepPlan& step) { return BytesAtPeakOf(step).Total(); }

}  // namespace frugal
