#pragma once

#include <string>

#include "sdk/ops/convolution.h"

namespace frugal {

// ", relu", or nothing for the identity.
std::string DescribeActivation(ActivationFunction activation);
// "3x3, stride 1, padding 1" over the last two spatial axes.
std::string DescribeWindow(const WindowOptions& window);

}  // namespace frugal
