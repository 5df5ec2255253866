#pragma once

#include <cstdint>

namespace frugal {

// Names what lies in a page file while nothing uses it; each has what the one before it has.
enum class PagedKinds : std::uint8_t { kNone, kOptimizerState, kWeights };

}  // namespace frugal
