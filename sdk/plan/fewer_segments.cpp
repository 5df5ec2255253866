#include "sdk/plan/fewer_segments.h"

namespace frugal {

std::vector<CheckpointSegments> WithOneSegmentLess(const CheckpointSegments& segments) {
  std::vector<CheckpointSegments> all;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    CheckpointSegments& dissolved = all.emplace_back(segments);
    dissolved.erase(dissolved.begin() + at);
    dissolved.insert(dissolved.begin() + at, segments[i].inner.begin(), segments[i].inner.end());
    for (CheckpointSegments& inner : WithOneSegmentLess(segments[i].inner)) {
      CheckpointSegments& within = all.emplace_back(segments);
      within[i].inner = std::move(inner);
    }
  }
  return all;
}

}  // namespace frugal
