#pragma once

#include <span>
#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"

namespace frugal {

// Tensors side by side along `axis`; the other extents are equal. Keeps nothing.
Var Concat(Context& context, std::span<const Var> parts, std::int64_t axis);

// The same for parts that backward keeps in any case, as a U-Net's skips: what is behind keeps them
// in place of the whole, which is joined again for it.
Var ConcatOfKept(Context& context, std::span<const Var> parts, std::int64_t axis);

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

// Rows of `table` [V, D] by ids kI64 [...]: [..., D]. The row of the id `padding` (-1 = none) gets
// no gradient. Keeps the ids.
Var Embedding(Context& context, const Tensor& ids, const Parameter& table,
              std::int64_t padding = -1);

// Images [N, H, W, C] -> [N, factor H, factor W, C]. Keeps nothing; what is behind it keeps x, and
// y is made again.
enum class Upsampling : std::uint8_t { kNearest, kBilinear };
Var Upsample(Context& context, const Var& x, std::int64_t factor, Upsampling kind);

}  // namespace frugal
