#pragma once

#include <string>
#include <vector>

#include "sdk/memory/trace.h"

namespace frugal {

// Blocks of one size that one holder has at the same time for one purpose: two copies of a tensor,
// or an input and an output that might share a place.
struct SimultaneousBuffers {
  std::string label;
  MemoryTag tag = MemoryTag::kActivation;
  std::int64_t bytes = 0;  // of each
  std::int64_t count = 0;
};

// Those of at least `least_bytes` each that are live after an event, the most bytes first.
// Optimizer state is left out: moments are no copies.
std::vector<SimultaneousBuffers> FindSimultaneousBuffers(const MemoryTrace& trace,
                                                         const LabelTable& labels,
                                                         std::size_t event,
                                                         std::int64_t least_bytes);

}  // namespace frugal
