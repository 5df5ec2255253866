#include "sdk/ops/shape_ops.h"

#include <algorithm>

#include "sdk/autograd/saved_tensor.h"
#include "sdk/backend/array_kernels.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

StridedView WholeView(const Shape& shape) {
  StridedView box;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    box.strides[axis] = stride;
    stride *= shape[axis];
  }
  return box;
}

void CopyStrided(Context& context, const Shape& extents, const Tensor& from,
                 const StridedView& from_box, const Tensor& to, const StridedView& to_box,
                 bool accumulate = false) {
  const std::int64_t passes = accumulate ? 3 : 2;
  context.Launch({OperationKind::kCopy, passes * extents.ElementCount() * SizeOf(from.dtype())},
                 [&](Backend& backend, void*) {
                   backend.array().CopyStrided(extents, from, from_box, to, to_box, accumulate);
                 });
}

std::size_t AxisOf(Context& context, const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis < -rank || axis >= rank) {
    ThrowShape(context, "axis " + std::to_string(axis) + " lies within the tensor's rank", shape,
               "count axes from 0, or from -1 backwards");
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

Tensor Filled(Context& context, const Shape& shape, DType dtype, double value) {
  const Tensor tensor = context.Allocate(shape, dtype);
  context.Launch({OperationKind::kElementwise, BytesOf(tensor)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(tensor, value); });
  return tensor;
}

// x -> y where y is a box of x (slice), or x lies in a box of y (pad).
Var TakeBox(Context& context, const Var& x, const Shape& extents, const StridedView& box) {
  const Tensor y = context.Allocate(extents, x.value.dtype());
  CopyStrided(context, extents, x.value, box, y, WholeView(extents));
  return context.Record(y, x.needs_gradient(),
                        [=, slot = x.slot, shape = x.shape()](Context& ctx, Tensor dy) {
                          // Several slices of one variable meet in one gradient.
                          const Tensor& held = ctx.tape()->gradient(slot);
                          if (held && held.IsSoleOwner()) {
                            CopyStrided(ctx, extents, dy, WholeView(extents), held, box, true);
                            return;
                          }
                          const Tensor dx = Filled(ctx, shape, dy.dtype(), 0);
                          CopyStrided(ctx, extents, dy, WholeView(extents), dx, box);
                          ctx.Accumulate(slot, dx);
                        });
}

std::int64_t FromBack(std::int64_t index, std::int64_t extent) {
  return std::clamp<std::int64_t>(index < 0 ? index + extent : index, 0, extent);
}

struct Part {
  Shape shape;
  StridedView box;
  int slot;
};

// How parts lie in what they make together.
struct Joint {
  Shape whole;
  std::vector<Part> parts;
};

Joint Join(Context& context, std::span<const Var> parts, std::int64_t axis_number) {
  const std::size_t axis = AxisOf(context, parts.front().shape(), axis_number);
  Joint joint = {parts.front().shape(), {}};
  joint.whole[axis] = 0;
  for (const Var& part : parts) {
    Shape expected = parts.front().shape();
    if (part.shape().rank() == expected.rank()) expected[axis] = part.shape()[axis];
    if (!(part.shape() == expected)) {
      ThrowShape(context,
                 "parts agree but for axis " + std::to_string(axis_number) + ", as " +
                     ToString(parts.front().shape()),
                 part.shape(), "reshape the part that differs");
    }
    joint.whole[axis] += part.shape()[axis];
  }
  StridedView box = WholeView(joint.whole);
  for (const Var& part : parts) {
    joint.parts.push_back({part.shape(), box, part.slot});
    box.offset += part.shape()[axis] * box.strides[axis];
  }
  return joint;
}

Tensor SimultaneousBuffers(Context& context, const Joint& joint, std::span<const Tensor> values) {
  Tensor y = context.Allocate(joint.whole, values.front().dtype());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Part& part = joint.parts[i];
    CopyStrided(context, part.shape, values[i], WholeView(part.shape), y, part.box);
  }
  return y;
}

}  // namespace

Var Concat(Context& context, std::span<const Var> parts, std::int64_t axis) {
  const Joint joint = Join(context, parts, axis);
  std::vector<Tensor> values;
  bool differentiable = false;
  for (const Var& part : parts) {
    values.push_back(part.value);
    differentiable |= part.needs_gradient();
  }
  return context.Record(SimultaneousBuffers(context, joint, values), differentiable,
                        [places = joint.parts](Context& ctx, Tensor dy) {
                          for (const Part& part : places) {
                            if (part.slot == Var::kNoGradient) continue;
                            const Tensor dx = ctx.Allocate(part.shape, dy.dtype());
                            CopyStrided(ctx, part.shape, dy, part.box, dx, WholeView(part.shape));
                            ctx.Accumulate(part.slot, dx);
                          }
                        });
}

Var ConcatOfSaved(Context& context, std::span<const Var> parts, std::int64_t axis) {
  std::vector<SavedTensor> beside;
  for (const Var& part : parts.subspan(1)) beside.emplace_back(context, part);
  return RematerializedFrom(context, parts.front(), Concat(context, parts, axis),
                            [beside = std::move(beside), joint = Join(context, parts, axis)](
                                Context& ctx, const Tensor& first) {
                              std::vector<Tensor> values = {first};
                              for (const SavedTensor& part : beside)
                                values.push_back(part.Get(ctx));
                              return SimultaneousBuffers(ctx, joint, values);
                            });
}

Var Slice(Context& context, const Var& x, const std::vector<SliceRange>& ranges) {
  Shape extents = x.shape();
  StridedView box = WholeView(x.shape());
  for (const SliceRange& range : ranges) {
    const std::size_t axis = AxisOf(context, x.shape(), range.axis);
    if (range.step < 1) ThrowShape(context, "a slice steps forward", x.shape(), "use step >= 1");
    const std::int64_t begin = FromBack(range.begin, x.shape()[axis]);
    const std::int64_t end = std::max(begin, FromBack(range.end, x.shape()[axis]));
    extents[axis] = (end - begin + range.step - 1) / range.step;
    box.offset += begin * box.strides[axis];
    box.strides[axis] *= range.step;
  }
  return TakeBox(context, x, extents, box);
}

Var Pad(Context& context, const Var& x, const std::vector<std::int64_t>& before,
        const std::vector<std::int64_t>& after, double value) {
  if (before.size() != x.shape().rank() || after.size() != x.shape().rank()) {
    ThrowShape(context, "padding names both ends of each axis", x.shape(),
               "give as many numbers as the tensor has axes");
  }
  Shape padded = x.shape();
  for (std::size_t axis = 0; axis < padded.rank(); ++axis)
    padded[axis] += before[axis] + after[axis];
  StridedView box = WholeView(padded);
  for (std::size_t axis = 0; axis < padded.rank(); ++axis) {
    box.offset += before[axis] * box.strides[axis];
  }
  const Tensor y = Filled(context, padded, x.value.dtype(), value);
  CopyStrided(context, x.shape(), x.value, WholeView(x.shape()), y, box);
  return context.Record(y, x.needs_gradient(),
                        [=, slot = x.slot, shape = x.shape()](Context& ctx, Tensor dy) {
                          const Tensor dx = ctx.Allocate(shape, dy.dtype());
                          CopyStrided(ctx, shape, dy, box, dx, WholeView(shape));
                          ctx.Accumulate(slot, dx);
                        });
}

Var Expand(Context& context, const Var& x, const Shape& shape) {
  if (IsBf16(x)) return ToActivation(context, Expand(context, CastToF32(context, x), shape));
  StridedView box = WholeView(x.shape());
  bool fits = x.shape().rank() == shape.rank();
  for (std::size_t axis = 0; fits && axis < shape.rank(); ++axis) {
    if (x.shape()[axis] == shape[axis]) continue;
    fits = x.shape()[axis] == 1;
    box.strides[axis] = 0;
  }
  if (!fits) {
    ThrowShape(context, "what is repeated to " + ToString(shape) + " has its extents or 1",
               x.shape(), "reshape it first");
  }
  const Tensor y = context.Allocate(shape, x.value.dtype());
  CopyStrided(context, shape, x.value, box, y, WholeView(shape));
  return context.Record(
      y, x.needs_gradient(), [slot = x.slot, back = x.shape()](Context& ctx, Tensor dy) {
        const Tensor dx = ctx.Allocate(back, dy.dtype());
        ctx.Launch({OperationKind::kElementwise, BytesOf(dy, dx)},
                   [&](Backend& backend, void*) { backend.array().SumTo(dy, 1, dx); });
        ctx.Accumulate(slot, dx);
      });
}

}  // namespace frugal
