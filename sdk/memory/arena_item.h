#pragma once

#include <cstdint>

#include "sdk/core/memory_tag.h"

namespace frugal {

// A block of an arena and where it lies, in bytes.
struct ArenaItem {
  std::int64_t bytes = 0;
  MemoryTag tag = MemoryTag::kActivation;
  std::int64_t offset = 0;
};

}  // namespace frugal
