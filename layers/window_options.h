#pragma once

#include <string>

#include "sdk/core/per_axis.h"
#include "sdk/ops/spatial/convolution.h"

namespace frugal {

struct WindowExtents {
  PerAxis kernel{};
  PerAxis stride{};    // empty: 1 for convolutions, the kernel for pooling
  PerAxis padding{};   // empty: 0; on both sides
  PerAxis dilation{};  // empty: 1
};

// Tells whose extents they are, for messages, and over how many axes (1 to 3).
struct WindowOwner {
  std::string layer;
  std::size_t axes = 2;
};

// One number for all axes, or one for each. Throws ConfigError, in the name of the owner, for
// other lists and for numbers below `least`. Axes that the owner does not have are `unused`.
Spatial SpreadOverAxes(const PerAxis& values, const std::string& name, std::int64_t least,
                       std::int64_t unused, const WindowOwner& owner);

// Throws ConfigError, in the name of the owner, where an extent is out of range.
WindowOptions ToWindow(const WindowExtents& extents, const PerAxis& default_stride,
                       const WindowOwner& owner);

}  // namespace frugal
