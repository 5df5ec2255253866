#pragma once

#include <array>
#include <cstdint>

#include "sdk/backend/geometry.h"

namespace frugal::onednn {

// The coordinates of a place of the window, of which there are KernelSize().
inline Spatial PlaceAt(const WindowGeometry& g, std::int64_t place) {
  return {place / (g.kernel[1] * g.kernel[2]), place / g.kernel[2] % g.kernel[1],
          place % g.kernel[2]};
}
// Returns the offset of its channels in the input, from an output's position times the stride.
inline Spatial OffsetOfPlace(const WindowGeometry& g, std::int64_t place) {
  Spatial offset = PlaceAt(g, place);
  for (std::size_t a = 0; a < 3; ++a) offset[a] = offset[a] * g.dilation[a] - g.padding_begin[a];
  return offset;
}

// Positions of a grid that is laid over the spatial axes of each sample of a tensor
// [N, extents..., channels].
struct WindowGrid {
  Spatial positions;  // of a sample, along each axis
  Spatial step;       // from one position to the next
  Spatial extents;
  std::int64_t channels;

  std::int64_t PerSample() const { return positions[0] * positions[1] * positions[2]; }
};

// Goes from position to position, the last axis first, then from sample to sample.
class Im2colIterator {
 public:
  Im2colIterator(const WindowGrid& grid, std::int64_t first) : grid_(grid) {
    for (int axis = 2; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      at_[a] = first % grid.positions[a];
      first /= grid.positions[a];
    }
    sample_ = first;
  }

  // The channels that lie `offset` from the position; nullptr beyond the tensor's edge.
  template <class T>
  T* Find(T* tensor, const Spatial& offset) const {
    std::int64_t index = sample_;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t i = at_[a] * grid_.step[a] + offset[a];
      if (i < 0 || i >= grid_.extents[a]) return nullptr;
      index = index * grid_.extents[a] + i;
    }
    return tensor + index * grid_.channels;
  }

  void Next() {
    for (int axis = 2; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      if (++at_[a] < grid_.positions[a]) return;
      at_[a] = 0;
    }
    ++sample_;
  }

 private:
  const WindowGrid& grid_;
  std::int64_t sample_ = 0;
  Spatial at_{};
};

}  // namespace frugal::onednn
