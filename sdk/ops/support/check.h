#pragma once

#include <string_view>

#include "sdk/autograd/context.h"

namespace frugal {

// Refuses an operation's input: "[conv1] conv2d takes ...; it got [32, 28, 28]; ...".
[[noreturn]] void ThrowShape(Context& context, const std::string& required, const Shape& given,
                             const std::string& advice);

// The gradient buffer for a result computed from `gradient`: itself where nobody else reads it.
Tensor ReuseOrAllocate(Context& context, const Tensor& gradient);

}  // namespace frugal
