#pragma once

#include <string>

#include "sdk/ops/spatial/convolution.h"

namespace frugal {

// ", relu", or nothing for the identity.
std::string DescribeActivation(ActivationFunction activation);
// "3x5", the last `axes` extents; "3" where they agree.
std::string DescribeExtents(const Spatial& values, std::size_t axes);
// "3x3, stride 1, padding 1" over the last `axes` spatial axes; "kernel 3, ..." over one.
std::string DescribeWindow(const WindowOptions& window, std::size_t axes);

}  // namespace frugal
