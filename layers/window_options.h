#pragma once

#include <vector>

#include "sdk/ops/convolution.h"

namespace frugal {

// Extents over height and width: one number for both, or two.
using PerAxis = std::vector<std::int64_t>;

struct Window2dOptions {
  PerAxis kernel{};
  PerAxis stride{};    // empty: 1 for convolutions, the kernel for pooling
  PerAxis padding{};   // empty: 0; on both sides
  PerAxis dilation{};  // empty: 1
};

// One number for both axes, or two. Throws ConfigError, in the name of `layer`, for other lists and
// for numbers below `least`. The unused third axis is `unused`.
Spatial SpreadOverAxes(const PerAxis& values, const std::string& name, std::int64_t least,
                       std::int64_t unused, const std::string& layer);

// Throws ConfigError, in the name of `layer`, where an extent is out of range.
WindowOptions ToWindow(const Window2dOptions& options, const PerAxis& default_stride,
                       const std::string& layer);

}  // namespace frugal
