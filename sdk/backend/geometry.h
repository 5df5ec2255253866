#pragma once

#include <array>
#include <cstdint>

#include "sdk/core/shape.h"

namespace frugal {

// Up to three spatial axes; unused ones are 1 (extents, kernel, stride, dilation) or 0 (padding).
// The axes are right-aligned: an image uses [1] = height and [2] = width, a signal only [2].
using Spatial = std::array<std::int64_t, 3>;

// A window sliding over the spatial axes of [N, ..., C].
struct WindowGeometry {
  std::int64_t batch = 1;
  Spatial input{1, 1, 1};
  Spatial output{1, 1, 1};
  Spatial kernel{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial padding_begin{0, 0, 0};
  Spatial padding_end{0, 0, 0};
  Spatial dilation{1, 1, 1};  // 1 = dense

  std::int64_t InputSize() const { return input[0] * input[1] * input[2]; }
  std::int64_t OutputSize() const { return output[0] * output[1] * output[2]; }
  std::int64_t KernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
  bool operator==(const WindowGeometry&) const = default;
};

// x [N, input..., Cin], weight [Cout, Cin / groups, kernel...], y [N, output..., Cout].
struct ConvGeometry {
  WindowGeometry window;
  std::int64_t input_channels = 1;
  std::int64_t output_channels = 1;
  std::int64_t groups = 1;

  bool operator==(const ConvGeometry&) const = default;
};

// x [N, input..., C], y [N, output..., C].
struct PoolGeometry {
  WindowGeometry window;
  std::int64_t channels = 1;
  // Average over the whole kernel even where it reaches into the padding.
  bool count_padding = true;

  bool operator==(const PoolGeometry&) const = default;
};

// x [N, S, C] in G groups of C / G adjacent channels.
struct GroupNormGeometry {
  std::int64_t batch = 1;
  std::int64_t size = 1;
  std::int64_t channels = 1;
  std::int64_t groups = 1;
};

}  // namespace frugal
