#include "sdk/core/memory_tag.h"

#include <numeric>

namespace frugal {

std::string_view NameOf(MemoryTag tag) {
  constexpr std::array<std::string_view, kMemoryTagCount> names = {
      "parameter",     "gradient", "optimizer_state", "activation", "workspace",
      "communication", "data"};
  return names[static_cast<std::size_t>(tag)];
}

std::int64_t BytesByTag::Total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

}  // namespace frugal
