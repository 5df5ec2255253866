#pragma once

#include <algorithm>
#include <cstdint>

#include "sdk/backend/geometry.h"

// The columns of a convolution: row p of the matrix holds the inputs under the window of output
// position p, kernel position by kernel position, the channels of one innermost (as they lie in
// memory). K kernel positions.
namespace frugal::eigen {

// Some adjacent channels of the input and how many channels lie between neighbouring positions.
struct ChannelRange {
  std::int64_t first;
  std::int64_t count;
  std::int64_t stride;
};

inline Spatial Unflatten(std::int64_t flat, const Spatial& extents) {
  return {flat / (extents[1] * extents[2]), flat / extents[2] % extents[1], flat % extents[2]};
}

// The next position in row-major order.
inline void Advance(const Spatial& extents, Spatial& position) {
  if (++position[2] < extents[2]) return;
  position[2] = 0;
  if (++position[1] < extents[1]) return;
  position[1] = 0;
  ++position[0];
}

// Calls body(kernel position, input position or -1 in the padding) for kernel positions
// [first, last) of output position `p`; all positions are flat.
template <class Body>
void ForEachTap(const WindowGeometry& g, std::int64_t p, std::int64_t first, std::int64_t last,
                const Body& body) {
  const Spatial at = Unflatten(p, g.output);
  Spatial tap = Unflatten(first, g.kernel);
  for (std::int64_t k = first; k < last; ++k) {
    std::int64_t flat = 0;
    bool inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t position =
          at[axis] * g.stride[axis] - g.padding_begin[axis] + tap[axis] * g.dilation[axis];
      inside = inside && position >= 0 && position < g.input[axis];
      flat = flat * g.input[axis] + position;
    }
    body(k, inside ? flat : -1);
    Advance(g.kernel, tap);
  }
}

// columns[rows, last - first] = columns [first, last) of the K * channels.count, for `rows` output
// positions from `position` on of one image.
template <class T>
void GatherColumns(const WindowGeometry& g, const T* image, ChannelRange channels,
                   std::int64_t position, std::int64_t rows, std::int64_t first, std::int64_t last,
                   T* columns) {
  const std::int64_t width = channels.count;
  for (std::int64_t row = 0; row < rows; ++row) {
    T* out = columns + row * (last - first);
    ForEachTap(g, position + row, first / width, (last + width - 1) / width,
               [&](std::int64_t k, std::int64_t input) {
                 const std::int64_t begin = std::max(first - k * width, std::int64_t{0});
                 const std::int64_t count = std::min(last - k * width, width) - begin;
                 if (input < 0) {
                   std::fill_n(out, count, T{0});
                 } else {
                   const std::int64_t from = input * channels.stride + channels.first + begin;
                   std::copy_n(image + from, count, out);
                 }
                 out += count;
               });
  }
}

// The transpose of GatherColumns for all columns: adds every column back to where it came from.
template <class T>
void ScatterColumns(const WindowGeometry& g, const T* columns, ChannelRange channels,
                    std::int64_t position, std::int64_t rows, T* image) {
  const std::int64_t width = channels.count;
  const std::int64_t taps = g.KernelSize();
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* in = columns + row * taps * width;
    ForEachTap(g, position + row, 0, taps, [&](std::int64_t k, std::int64_t input) {
      if (input < 0) return;
      T* out = image + input * channels.stride + channels.first;
      const T* from = in + k * width;
      for (std::int64_t c = 0; c < width; ++c) out[c] += from[c];
    });
  }
}

}  // namespace frugal::eigen
