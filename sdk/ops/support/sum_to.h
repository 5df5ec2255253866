#pragma once

#include "sdk/autograd/context.h"

namespace frugal {

// Returns factor * x summed over the axes along which `shape`, of the same rank, has extents of 1;
// x itself where nothing is to be done.
Tensor SumTo(Context& context, const Tensor& x, const Shape& shape, double factor = 1);

}  // namespace frugal
