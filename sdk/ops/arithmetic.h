#pragma once

#include "sdk/autograd/context.h"
#include "sdk/backend/array_kernels.h"

namespace frugal {

// a op b, where extents of 1 (and missing leading extents) are repeated. Keeps a and b where their
// gradients need them (multiply, divide). kGreater, which is 1 or 0, has no gradient.
Var Arithmetic(Context& context, BinaryKind kind, const Var& a, const Var& b);

}  // namespace frugal
