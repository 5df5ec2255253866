#pragma once

#include <limits>

#include "sdk/ops/split/split_tensor.h"

namespace frugal {

// Along one axis: positions [begin, end) of it, with `low` zeros before and `high` zeros behind.
struct PaddedSlice {
  static constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

  std::int64_t begin = 0;
  std::int64_t end = kToTheEnd;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

// Slices and pads both split axes, and splits the result, which has low + (end - begin) + high
// positions along each, by SplitInterval of those. All element types. Each device allocates its own
// part of the result and, until it returns, the strips that it receives and copies of those that it
// sends; zeros are written to own parts of the result alone. Keeps nothing: the gradient goes the
// way back, and that of padding nowhere. All devices call it, those with an empty part too. Throws
// ShapeError for a slice that does not lie within the axis, and for negative padding.
SplitTensor SplitPad(Context& context, const SplitTensor& x, const PaddedSlice& rows,
                     const PaddedSlice& columns);

}  // namespace frugal
