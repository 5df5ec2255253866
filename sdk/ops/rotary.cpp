#include "sdk/ops/rotary.h"

#include <algorithm>
#include <cmath>

#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

template <class T>
void Fill(const RotaryPositions& p, std::span<T> cosine, std::span<T> sine) {
  const std::int64_t pairs = p.rotary_size / 2;
  for (std::size_t i = 0; i < cosine.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto exponent =
        static_cast<double>(2 * (at % pairs)) / static_cast<double>(p.rotary_size);
    const double angle = static_cast<double>(p.first + at / pairs) * std::pow(p.base, -exponent);
    cosine[i] = static_cast<T>(std::cos(angle));
    sine[i] = static_cast<T>(std::sin(angle));
  }
}

// An axis of the grid writes in these places of the tables.
struct AxisPlace {
  std::int64_t first_row = 0;  // behind the leading tokens
  std::int64_t outer = 1;      // tokens of the axes before it
  std::int64_t inner = 1;      // and behind it
  std::int64_t column = 0;
  std::int64_t width = 0;  // pairs of all axes
};

// Each angle is computed once and written to all tokens that share the position.
template <class T>
void FillAxis(const AxisPositions& axis, const AxisPlace& place, T* cosine, T* sine) {
  for (std::int64_t i = 0; i < axis.count * (axis.rotary_size / 2); ++i) {
    const std::int64_t index = i % axis.count;
    const std::int64_t pair = i / axis.count;
    const auto exponent = static_cast<double>(2 * pair) / static_cast<double>(axis.rotary_size);
    const double position = axis.first + axis.step * static_cast<double>(index);
    const double angle = position * std::pow(axis.base, -exponent);
    const auto c = static_cast<T>(std::cos(angle));
    const auto s = static_cast<T>(std::sin(angle));
    for (std::int64_t outer = 0; outer < place.outer; ++outer) {
      std::int64_t row = place.first_row + (outer * axis.count + index) * place.inner;
      for (const std::int64_t end = row + place.inner; row < end; ++row) {
        cosine[row * place.width + place.column + pair] = c;
        sine[row * place.width + place.column + pair] = s;
      }
    }
  }
}

template <class T>
void FillGrid(const std::vector<AxisPositions>& axes, std::int64_t leading,
              const RotaryAngles& angles) {
  T* const cosine = angles.cosine.data<T>();
  T* const sine = angles.sine.data<T>();
  AxisPlace place{.first_row = leading, .width = angles.cosine.shape()[1]};
  std::fill_n(cosine, leading * place.width, T{1});
  std::fill_n(sine, leading * place.width, T{0});
  for (const AxisPositions& axis : axes) place.inner *= axis.count;
  if (place.inner == 0) return;
  for (const AxisPositions& axis : axes) {
    place.inner /= axis.count;
    FillAxis(axis, place, cosine, sine);
    place.outer *= axis.count;
    place.column += axis.rotary_size / 2;
  }
}

void CheckAxis(Context& context, const AxisPositions& axis) {
  if (axis.count < 0 || axis.rotary_size < 0 || axis.rotary_size % 2 != 0) {
    ThrowShape(context,
               "an axis of rotary positions has a count and an even rotary size, neither negative",
               {axis.count, axis.rotary_size}, "correct the sizes of the axes");
  }
}

void CheckAngles(Context& context, const Var& x, const Var& cosine, const Var& sine) {
  if (x.shape().rank() != 4 || x.shape().back() % 2 != 0) {
    ThrowShape(context, "what is rotated by pairs is [N, T, H, d] with an even d", x.shape(),
               "reshape the heads to an axis of their own");
  }
  const Shape angles = {x.shape()[1], x.shape()[2], x.shape()[3] / 2};
  for (const Var& part : {cosine, sine}) {
    if (part.shape() == angles) continue;
    ThrowShape(context,
               "the cosines and sines that rotate x " + ToString(x.shape()) +
                   " are [T, H, d / 2] = " + ToString(angles),
               part.shape(), "make one angle for each position, head and pair");
  }
}

struct Kept {
  Var x, cosine, sine;
};

// Gradients towards both tables at once.
void GiveAngles(Context& context, const Kept& kept, const Tensor& dy) {
  if (!kept.cosine.needs_gradient() && !kept.sine.needs_gradient()) return;
  const Tensor dcosine = context.Allocate(kept.cosine.shape(), kept.cosine.dtype());
  const Tensor dsine = context.Allocate(kept.sine.shape(), kept.sine.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(dy, kept.x.value, dcosine, dsine)},
                 [&](Backend& backend, void*) {
                   backend.sequence().RotateByBackwardAngles(dy, kept.x.value, dcosine, dsine);
                 });
  context.Accumulate(kept.cosine.slot, dcosine);
  context.Accumulate(kept.sine.slot, dsine);
}

}  // namespace

RotaryAngles AnglesOf(Context& context, const RotaryPositions& positions) {
  const Shape shape = {positions.positions, positions.rotary_size / 2};
  const RotaryAngles angles = {context.Allocate(shape, context.master_dtype()),
                               context.Allocate(shape, context.master_dtype())};
  context.Launch({OperationKind::kElementwise, BytesOf(angles.cosine, angles.sine)},
                 [&](Backend&, void*) {
                   if (context.dtype() == DType::kF64) {
                     Fill(positions, angles.cosine.values<double>(), angles.sine.values<double>());
                   } else {
                     Fill(positions, angles.cosine.values<float>(), angles.sine.values<float>());
                   }
                 });
  return angles;
}

RotaryAngles AnglesOfAxes(Context& context, const std::vector<AxisPositions>& axes,
                          std::int64_t leading) {
  std::int64_t tokens = 1;
  std::int64_t pairs = 0;
  for (const AxisPositions& axis : axes) {
    CheckAxis(context, axis);
    tokens *= axis.count;
    pairs += axis.rotary_size / 2;
  }
  const Shape shape = {leading + tokens, pairs};
  const RotaryAngles angles = {context.Allocate(shape, context.master_dtype()),
                               context.Allocate(shape, context.master_dtype())};
  context.Launch({OperationKind::kElementwise, BytesOf(angles.cosine, angles.sine)},
                 [&](Backend&, void*) {
                   if (context.dtype() == DType::kF64) {
                     FillGrid<double>(axes, leading, angles);
                   } else {
                     FillGrid<float>(axes, leading, angles);
                   }
                 });
  return angles;
}

Var Rotate(Context& context, const Var& x, const RotaryGeometry& geometry, const Tensor& cosine,
           const Tensor& sine) {
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kCopy, BytesOf(x.value, y)},
                 [&](Backend& backend, void*) { backend.elementwise().Copy(x.value, y); });
  context.Launch({OperationKind::kElementwise, BytesOf(y, y)}, [&](Backend& backend, void*) {
    backend.sequence().Rotate(geometry, cosine, sine, false, y);
  });
  return context.Record(y, x.needs_gradient(), [=, slot = x.slot](Context& ctx, Tensor dy) {
    const Tensor dx = ReuseOrAllocate(ctx, dy);
    if (!dx.SharesStorageWith(dy)) {
      ctx.Launch({OperationKind::kCopy, BytesOf(dy, dx)},
                 [&](Backend& backend, void*) { backend.elementwise().Copy(dy, dx); });
    }
    ctx.Launch({OperationKind::kElementwise, BytesOf(dx, dx)}, [&](Backend& backend, void*) {
      backend.sequence().Rotate(geometry, cosine, sine, true, dx);
    });
    ctx.Accumulate(slot, dx);
  });
}

Var SinusoidsOfAxes(Context& context, const std::vector<AxisPositions>& axes,
                    const std::vector<std::size_t>& order, std::int64_t leading) {
  const RotaryAngles angles = AnglesOfAxes(context, axes, leading);
  std::vector<SliceRange> columns;
  std::int64_t begin = 0;
  for (const AxisPositions& axis : axes) {
    columns.push_back({.axis = 1, .begin = begin, .end = begin + axis.rotary_size / 2});
    begin += axis.rotary_size / 2;
  }
  std::vector<Var> parts;
  for (const std::size_t axis : order) {
    if (axis >= axes.size()) {
      ThrowShape(context, "the order of position features names the axes by number",
                 angles.cosine.shape(), "axis " + std::to_string(axis) + " is not one of them");
    }
    parts.push_back(Slice(context, {angles.sine}, {columns[axis]}));
    parts.push_back(Slice(context, {angles.cosine}, {columns[axis]}));
  }
  if (parts.empty()) {
    ThrowShape(context, "position features take at least one axis", angles.cosine.shape(),
               "name the axes in their order");
  }
  return ToActivation(context, Concat(context, parts, 1));
}

Var RotateBy(Context& context, const Var& x, const Var& cosine, const Var& sine) {
  if (IsBf16(cosine) || IsBf16(sine)) {  // tables are exact
    return RotateBy(context, x, CastToF32(context, cosine), CastToF32(context, sine));
  }
  CheckAngles(context, x, cosine, sine);
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(x.value, cosine.value, sine.value, y)},
                 [&](Backend& backend, void*) {
                   backend.sequence().RotateBy(x.value, cosine.value, sine.value, false, y);
                 });
  const bool differentiable =
      x.needs_gradient() || cosine.needs_gradient() || sine.needs_gradient();
  return context.Record(y, differentiable, [kept = Kept{x, cosine, sine}](Context& ctx, Tensor dy) {
    GiveAngles(ctx, kept, dy);
    if (!kept.x.needs_gradient()) return;
    const Tensor dx = ReuseOrAllocate(ctx, dy);
    ctx.Launch({OperationKind::kElementwise, BytesOf(dy, kept.cosine.value, kept.sine.value, dx)},
               [&](Backend& backend, void*) {
                 backend.sequence().RotateBy(dy, kept.cosine.value, kept.sine.value, true, dx);
               });
    ctx.Accumulate(kept.x.slot, dx);
  });
}

}  // namespace frugal
