#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sdk/backend/geometry.h"

namespace frugal::eigen {

// Positions begin, begin + step, ... below end of one axis, all inside the input.
struct AxisRange {
  std::int64_t begin = 0;
  std::int64_t end = 1;
  std::int64_t step = 1;

  std::int64_t Count() const { return begin < end ? (end - begin + step - 1) / step : 0; }
};

// The part of a pooling window that lies inside the input.
struct PoolWindow {
  std::array<AxisRange, 3> axes;

  std::int64_t Count() const { return axes[0].Count() * axes[1].Count() * axes[2].Count(); }

  // body(flat input position)
  template <class Body>
  void ForEach(const Spatial& input, const Body& body) const {
    const auto& [a, b, c] = axes;
    for (std::int64_t i = a.begin; i < a.end; i += a.step) {
      for (std::int64_t j = b.begin; j < b.end; j += b.step) {
        for (std::int64_t k = c.begin; k < c.end; k += c.step) {
          body((i * input[1] + j) * input[2] + k);
        }
      }
    }
  }
};

inline AxisRange SlidingRange(const WindowGeometry& g, std::size_t axis, std::int64_t at) {
  const std::int64_t step = g.dilation[axis];
  const std::int64_t start = at * g.stride[axis] - g.padding_begin[axis];
  const std::int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
  return {.begin = start + skipped * step,
          .end = std::min(g.input[axis], start + (g.kernel[axis] - 1) * step + 1),
          .step = step};
}

inline AxisRange AdaptiveRange(const WindowGeometry& g, std::size_t axis, std::int64_t at) {
  const std::int64_t in = g.input[axis];
  const std::int64_t out = g.output[axis];
  return {.begin = at * in / out, .end = ((at + 1) * in + out - 1) / out, .step = 1};
}

// Ranges are functions (geometry, axis, output coordinate) -> AxisRange.
using RangeOf = AxisRange (*)(const WindowGeometry&, std::size_t, std::int64_t);

inline PoolWindow WindowAt(const WindowGeometry& g, RangeOf range, std::int64_t output) {
  return {{range(g, 0, output / (g.output[1] * g.output[2])),
           range(g, 1, output / g.output[2] % g.output[1]), range(g, 2, output % g.output[2])}};
}

}  // namespace frugal::eigen
