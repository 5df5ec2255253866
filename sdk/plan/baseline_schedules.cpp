#include "sdk/plan/baseline_schedules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace frugal {
namespace {

// (snapshots + repeats choose snapshots): the longest chain that so many snapshots reverse with no
// stage run forward more than `repeats` times. Stops at 2^40.
std::int64_t Reach(std::int64_t snapshots, std::int64_t repeats) {
  std::int64_t reach = 1;
  for (std::int64_t i = 1; i <= snapshots; ++i) {
    reach = reach * (repeats + i) / i;
    if (reach > (std::int64_t{1} << 40)) break;
  }
  return reach;
}

// Stages before the next snapshot.
std::int64_t Advance(std::int64_t stages, std::int64_t snapshots) {
  if (snapshots <= 1) return stages - 1;
  std::int64_t repeats = 1;
  while (Reach(snapshots, repeats) < stages) ++repeats;
  const std::int64_t before = repeats >= 2 ? Reach(snapshots, repeats - 2) : 0;
  const std::int64_t advance = std::max(before, stages - Reach(snapshots - 1, repeats));
  return std::clamp<std::int64_t>(advance, 1, stages - 1);
}

void Reverse(std::size_t begin, std::size_t end, std::size_t snapshots, CheckpointSegments& into) {
  while (end - begin > 1) {
    const std::size_t next =
        begin + static_cast<std::size_t>(Advance(static_cast<std::int64_t>(end - begin),
                                                 static_cast<std::int64_t>(snapshots)));
    CheckpointSegment segment{begin, next};
    Reverse(begin, next, snapshots, segment.inner);
    into.push_back(std::move(segment));
    begin = next;
    snapshots = std::max<std::size_t>(1, snapshots - 1);
  }
}

}  // namespace

CheckpointSegments EveryN(std::size_t stages, std::size_t length, bool keep_last) {
  CheckpointSegments segments;
  for (std::size_t begin = 0; begin < stages; begin += length) {
    if (keep_last && begin + length >= stages) break;
    segments.push_back({begin, std::min(stages, begin + length)});
  }
  return segments;
}

CheckpointSegments SqrtN(std::size_t stages, bool keep_last) {
  const auto length = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(stages))));
  return EveryN(stages, std::max<std::size_t>(1, length), keep_last);
}

CheckpointSegments Binomial(std::size_t stages, std::size_t snapshots) {
  CheckpointSegments segments;
  if (stages > 0) Reverse(0, stages, snapshots, segments);
  return segments;
}

}  // namespace frugal
