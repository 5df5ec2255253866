#include "sdk/plan/plan.h"

#include <algorithm>
#include <array>

namespace frugal {

std::string_view NameOf(StepKind kind) {
  constexpr auto names = std::to_array<std::string_view>({"train", "evaluate", "predict"});
  static_assert(names.size() == static_cast<std::size_t>(StepKind::kCount));
  return names[static_cast<std::size_t>(kind)];
}

const StepPlan* Plan::Find(StepKind kind, std::int64_t batch) const {
  const auto found = std::ranges::find_if(
      steps, [&](const StepPlan& step) { return step.kind == kind && step.batch == batch; });
  return found == steps.end() ? nullptr : &*found;
}

BytesByTag BytesAtPeakOf(const StepPlan& step) {
  BytesByTag bytes = step.baseline;
  const MemoryTimeline& timeline = step.timeline;
  if (timeline.peak_event >= timeline.live.size()) return bytes;
  for (const MemoryTag tag : kAllMemoryTags) bytes[tag] += timeline.live[timeline.peak_event][tag];
  return bytes;
}

std::int64_t PeakBytesOf(const StepPlan& step) { return BytesAtPeakOf(step).Total(); }

std::vector<Holder> HoldersOf(const StepPlan& step) {
  std::vector<Holder> holders = step.timeline.holders_at_peak;
  for (const MemoryTag tag : kAllMemoryTags) {
    if (step.baseline[tag] > 0) {
      holders.push_back({"all " + std::string(NameOf(tag)), tag, step.baseline[tag]});
    }
  }
  return MergeHolders(std::move(holders));
}

}  // namespace frugal
