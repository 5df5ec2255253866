#pragma once

#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/backend/array_kernels.h"

namespace frugal {

// a op b, where extents of 1 (and missing leading extents) are repeated. Keeps a and b where their
// gradients need them (multiply, divide).
Var Arithmetic(Context& context, BinaryKind kind, const Var& a, const Var& b);

// factor * the sum over `axes`, which stay as extents of 1 or, with `keep` false, vanish. Keeps
// nothing.
Var Sum(Context& context, const Var& x, const std::vector<std::int64_t>& axes, double factor = 1,
        bool keep = false);
Var Mean(Context& context, const Var& x, const std::vector<std::int64_t>& axes, bool keep = false);
// The mean square distance from the mean, divided by n - correction.
Var Variance(Context& context, const Var& x, const std::vector<std::int64_t>& axes,
             std::int64_t correction = 1);

// a [..., M, K] b [..., K, N] -> [..., M, N]; leading extents are equal or 1. Keeps a and b.
Var MatMul(Context& context, const Var& a, const Var& b);

}  // namespace frugal
