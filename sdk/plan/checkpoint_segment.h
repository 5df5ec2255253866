#pragma once

#include <cstddef>
#include <vector>

namespace frugal {

// Stages [begin, end) of a chain that keep only their input and run again in backward. When they
// run again, the segments in `inner` keep only their inputs once more; they are numbered like the
// outer ones, lie within [begin, end), and are disjoint and in order.
struct CheckpointSegment {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<CheckpointSegment> inner{};
  bool operator==(const CheckpointSegment&) const = default;
};
using CheckpointSegments = std::vector<CheckpointSegment>;

}  // namespace frugal
