#pragma once

#include <string>

#include "sdk/ops/spatial/convolution.h"

namespace frugal {

// Convolutions and transposed convolutions share these functions.

// Throws ConfigError, in the name of `layer`, unless there is a filter and the groups divide both.
void CheckFilters(const std::string& layer, std::int64_t channels, std::int64_t filters,
                  std::int64_t groups);

// [first, second, kernel...] with the kernel's last `axes` extents.
Shape ConvolutionWeightShape(std::int64_t first, std::int64_t second, const WindowOptions& window,
                             std::size_t axes);

// Throws ShapeError unless the input is [N, C] and `axes` spatial axes in between. `family` is the
// layer's name without its number of axes: "conv" of "conv2d".
void CheckSpatialAxes(Context& context, const Var& input, const std::string& family,
                      std::size_t axes);

// ", 2 groups", or nothing for one.
std::string DescribeGroups(std::int64_t groups);

}  // namespace frugal
