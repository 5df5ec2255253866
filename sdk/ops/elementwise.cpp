#include "sdk/ops/elementwise.h"

#include <algorithm>

#include "sdk/autograd/saved_tensor.h"
#include "sdk/core/random.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

// Each axis of the input once: kernels go where the axes say.
void CheckPermutation(Context& context, const Shape& axes, const Shape& given) {
  bool fits = axes.rank() == given.rank();
  for (std::size_t i = 0; fits && i < given.rank(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    fits = std::ranges::count(axes.extents(), number) == 1;
  }
  if (fits) return;
  ThrowShape(context, "axes in another order, each once, here " + ToString(axes), given,
             "name each axis of the input once, counted from 0");
}

}  // namespace

Var Add(Context& context, const Var& branch, const Var& around) {
  if (!(branch.shape() == around.shape())) {
    ThrowShape(context, "a sum takes two tensors of one shape, here " + ToString(branch.shape()),
               around.shape(), "make both branches end in the same shape, e.g. with a shortcut");
  }
  const auto sum = [](Context& ctx, const Tensor& x, const Tensor& y) {
    ctx.RunWaiting(OperationKind::kElementwise);
    const Tensor z = ctx.AllocateResult(x.shape(), x.dtype());
    ctx.LaunchResult(z, {OperationKind::kElementwise, BytesOf(x, y, z)},
                     [=](Backend& backend, void*) { backend.elementwise().Add(x, y, z); });
    return z;
  };
  Var result = context.Record(
      sum(context, branch.value, around.value), branch.needs_gradient() || around.needs_gradient(),
      [branch_slot = branch.slot, around_slot = around.slot](Context& ctx, Tensor gradient) {
        ctx.Accumulate(branch_slot, gradient);
        ctx.Accumulate(around_slot, std::move(gradient));
      });
  if (!branch.remat) return result;
  return SumRematerializedFrom(
      context, around, result,
      [sum, kept = SavedTensor(context, branch)](Context& ctx, const Tensor& stream) {
        return sum(ctx, kept.Get(ctx), stream);
      });
}

Var Scale(Context& context, const Var& x, double factor) {
  if (factor == 1) return x;
  const auto scaled = [factor](Context& ctx, const Tensor& from, const Tensor& to) {
    ctx.Launch({OperationKind::kElementwise, BytesOf(from, to)},
               [&](Backend& backend, void*) { backend.elementwise().Scale(from, factor, to); });
    return to;
  };
  const Tensor y = scaled(context, x.value, context.Allocate(x.shape(), x.dtype()));
  return context.Record(y, x.needs_gradient(), [scaled, slot = x.slot](Context& ctx, Tensor dy) {
    const Tensor dx = ReuseOrAllocate(ctx, dy);
    ctx.Accumulate(slot, scaled(ctx, dy, dx));
  });
}

Var Dropout(Context& context, const Var& x, double rate, std::string_view path) {
  if (!context.training() || rate == 0) return x;
  const std::string part =
      context.micro_batch() == 0 ? "" : "/" + std::to_string(context.micro_batch());
  const std::uint64_t key = StreamKey(context.seed(), std::string(path) + "/dropout" + part,
                                      static_cast<std::uint64_t>(context.step()) + 1);
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(x.value, y)}, [&](Backend& backend, void*) {
    backend.elementwise().Dropout(x.value, rate, key, y);
  });
  return context.Record(y, x.needs_gradient(), [=, slot = x.slot](Context& ctx, Tensor dy) {
    const Tensor dx = ReuseOrAllocate(ctx, dy);
    ctx.Launch({OperationKind::kElementwise, BytesOf(dy, dx)},
               [&](Backend& backend, void*) { backend.elementwise().Dropout(dy, rate, key, dx); });
    ctx.Accumulate(slot, dx);
  });
}

Var Reshape(Context& context, const Var& x, const Shape& shape) {
  const Var result = context.Record(x.value.Reshape(shape), x.needs_gradient(),
                                    [slot = x.slot, back = x.shape()](Context& ctx, Tensor dy) {
                                      ctx.Accumulate(slot, dy.Reshape(back));
                                    });
  if (!x.remat) return result;
  return RematerializedFrom(
      context, x, result, [shape](Context&, const Tensor& again) { return again.Reshape(shape); });
}

Var Permute(Context& context, const Var& x, const Shape& axes) {
  CheckPermutation(context, axes, x.shape());
  Shape shape = axes;
  Shape inverse = axes;
  for (std::size_t i = 0; i < axes.rank(); ++i) {
    shape[i] = x.shape()[static_cast<std::size_t>(axes[i])];
    inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  }
  const Tensor y = context.Allocate(shape, x.dtype());
  context.Launch({OperationKind::kCopy, BytesOf(x.value, y)},
                 [&](Backend& backend, void*) { backend.elementwise().Permute(x.value, axes, y); });
  return context.Record(
      y, x.needs_gradient(), [slot = x.slot, inverse, back = x.shape()](Context& ctx, Tensor dy) {
        const Tensor dx = ctx.Allocate(back, dy.dtype());
        ctx.Launch({OperationKind::kCopy, BytesOf(dy, dx)}, [&](Backend& backend, void*) {
          backend.elementwise().Permute(dy, inverse, dx);
        });
        ctx.Accumulate(slot, dx);
      });
}

Var Flatten(Context& context, const Var& x) {
  if (x.shape().rank() < 2) {
    ThrowShape(context, "flatten takes [N, ...]", x.shape(), "leave the layer out");
  }
  const std::int64_t batch = x.shape()[0];
  std::int64_t positions = 1;
  for (std::size_t axis = 1; axis + 1 < x.shape().rank(); ++axis) positions *= x.shape()[axis];
  const std::int64_t features = positions * x.shape().back();
  if (positions == 1 || x.shape().back() == 1) return Reshape(context, x, {batch, features});
  const Var rows = Reshape(context, x, {batch, positions, x.shape().back()});
  return Reshape(context, Permute(context, rows, {0, 2, 1}), {batch, features});
}

}  // namespace frugal
