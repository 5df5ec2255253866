#include "sdk/core/memory_tag.h"

#include <numeric>

namespace frugal {

std::string_view NameOf(MemoryTag tag) {
  constexpr auto names =
      std::to_array<std::string_view>({"parameter", "gradient", "optimizer_state", "activation",
                                       "workspace", "communication", "data", "snapshot", "paging"});
  static_assert(names.size() == kMemoryTagCount);
  static_assert(static_cast<std::size_t>(kAllMemoryTags.back()) + 1 == kMemoryTagCount);
  return names[static_cast<std::size_t>(tag)];
}

std::int64_t BytesByTag::Total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

}  // namespace frugal
