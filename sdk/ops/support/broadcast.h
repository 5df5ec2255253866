#pragma once

#include <cstddef>

#include "sdk/autograd/context.h"

namespace frugal {

// Returns the shape with ones in front, so that it has `rank` extents.
Shape Widen(const Shape& shape, std::size_t rank);

// Returns the shape that a and b of one rank are repeated to: where their extents differ, one of
// them is 1. Throws ShapeError where neither is.
Shape BroadcastShape(Context& context, const Shape& a, const Shape& b);

}  // namespace frugal
