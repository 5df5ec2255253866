#pragma once

#include <cstddef>
#include <cstdint>

namespace frugal {

// A block of an arena. Its time counts the blocks that have begun: it is there while numbers
// [first, last) begin, `first` being its own.
struct TimedBlock {
  std::int64_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

}  // namespace frugal
