#include "sdk/ops/reduce.h"

#include <algorithm>

#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"
#include "sdk/ops/support/sum_to.h"

namespace frugal {
namespace {

double CountOver(const Shape& shape, const std::vector<std::int64_t>& axes) {
  double count = 1;
  for (const std::int64_t axis : axes) {
    count *= static_cast<double>(shape[static_cast<std::size_t>(
        axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis)]);
  }
  return count;
}

}  // namespace

Var Sum(Context& context, const Var& x, const std::vector<std::int64_t>& axes, double factor,
        bool keep) {
  if (IsBf16(x)) {
    return ToActivation(context, Sum(context, CastToF32(context, x), axes, factor, keep));
  }
  const auto rank = static_cast<std::int64_t>(x.shape().rank());
  Shape kept = x.shape();
  for (const std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      ThrowShape(context, "an axis lies in [-rank, rank)", x.shape(),
                 "axis " + std::to_string(axis) + " does not");
    }
    kept[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = 1;
  }
  const Tensor y = SumTo(context, x.value, kept, factor);
  const Var sum = context.Record(
      y, x.needs_gradient(), [=, slot = x.slot, shape = x.shape()](Context& ctx, Tensor dy) {
        // Repeats the gradient along the axes that were summed.
        const Tensor dx = ctx.Allocate(shape, dy.dtype());
        ctx.Launch({OperationKind::kElementwise, BytesOf(dx)},
                   [&](Backend& backend, void*) { backend.elementwise().Fill(dx, factor); });
        ctx.Launch({OperationKind::kElementwise, BytesOf(dx, dy, dx)},
                   [&](Backend& backend, void*) {
                     backend.array().Binary(BinaryKind::kMultiply, dx, dy, dx);
                   });
        ctx.Accumulate(slot, dx);
      });
  if (keep) return sum;
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < kept.rank(); ++i) {
    const bool summed = std::ranges::any_of(axes, [&](std::int64_t axis) {
      return (axis < 0 ? axis + rank : axis) == static_cast<std::int64_t>(i);
    });
    if (!summed) extents.push_back(kept[i]);
  }
  return Reshape(context, sum, Shape(extents));
}

Var Mean(Context& context, const Var& x, const std::vector<std::int64_t>& axes, bool keep) {
  return Sum(context, x, axes, 1 / CountOver(x.shape(), axes), keep);
}

Var Variance(Context& context, const Var& x, const std::vector<std::int64_t>& axes,
             std::int64_t correction) {
  const Var centred = Arithmetic(context, BinaryKind::kSubtract, x, Mean(context, x, axes, true));
  const Var square = Arithmetic(context, BinaryKind::kMultiply, centred, centred);
  const double count = CountOver(x.shape(), axes) - static_cast<double>(correction);
  return Sum(context, square, axes, 1 / count);
}

}  // namespace frugal
