#pragma once

#include <span>
#include <vector>

#include "sdk/autograd/context.h"

namespace frugal {

// Tensors side by side along `axis`; the other extents are equal. Keeps nothing.
Var Concat(Context& context, std::span<const Var> parts, std::int64_t axis);

// Concatenates tensors that backward saves anyway, such as a U-Net's skips. Later operations save
// these parts, not the result, which is concatenated again in backward.
Var ConcatOfSaved(Context& context, std::span<const Var> parts, std::int64_t axis);

// Along one axis: elements begin, begin + step, ... before end. Negative begin and end count from
// the back.
struct SliceRange {
  std::int64_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};
Var Slice(Context& context, const Var& x, const std::vector<SliceRange>& ranges);

// Zeros, or another value, around x: `before` and `after` along each axis.
Var Pad(Context& context, const Var& x, const std::vector<std::int64_t>& before,
        const std::vector<std::int64_t>& after, double value = 0);

// x repeated along its axes of extent 1 to `shape`, of the same rank. Keeps nothing.
Var Expand(Context& context, const Var& x, const Shape& shape);

}  // namespace frugal
