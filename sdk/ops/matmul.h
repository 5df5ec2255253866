#pragma once

#include "sdk/autograd/context.h"

namespace frugal {

// a [..., M, K] b [..., K, N] -> [..., M, N]; leading extents are equal or 1. Keeps a and b.
Var MatMul(Context& context, const Var& a, const Var& b);

}  // namespace frugal
