#include "sdk/memory/simultaneous_buffers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace frugal {

std::vector<SimultaneousBuffers> FindSimultaneousBuffers(const MemoryTrace& trace,
                                                         const LabelTable& labels,
                                                         std::size_t event,
                                                         std::int64_t least_bytes) {
  const auto at = static_cast<std::int64_t>(event);
  std::map<std::tuple<LabelTable::Id, MemoryTag, std::int64_t>, std::int64_t> counts;
  for (const Lifetime& life : trace.lifetimes()) {
    const bool live = life.begin <= at && at < life.end;
    if (!live || life.bytes < least_bytes || life.tag == MemoryTag::kOptimizerState) continue;
    ++counts[{life.label, life.tag, life.bytes}];
  }
  std::vector<SimultaneousBuffers> found;
  for (const auto& [key, count] : counts) {
    const auto& [label, tag, bytes] = key;
    if (count > 1) found.push_back({labels.NameOf(label), tag, bytes, count});
  }
  std::ranges::stable_sort(found, std::greater<>(),
                           [](const SimultaneousBuffers& one) { return one.bytes * one.count; });
  return found;
}

}  // namespace frugal
