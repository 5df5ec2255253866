#pragma once

#include <vector>

#include "sdk/autograd/context.h"

namespace frugal {

// factor * the sum over `axes`, which stay as extents of 1 or, with `keep` false, vanish. Keeps
// nothing.
Var Sum(Context& context, const Var& x, const std::vector<std::int64_t>& axes, double factor = 1,
        bool keep = false);
Var Mean(Context& context, const Var& x, const std::vector<std::int64_t>& axes, bool keep = false);
// The mean square distance from the mean, divided by n - correction.
Var Variance(Context& context, const Var& x, const std::vector<std::int64_t>& axes,
             std::int64_t correction = 1);

}  // namespace frugal
