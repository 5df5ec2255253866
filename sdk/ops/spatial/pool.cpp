#include "sdk/ops/spatial/pool.h"

#include <algorithm>

#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

PoolGeometry FitPool(Context& context, const Shape& x, const WindowOptions& options) {
  PoolGeometry geometry{FitWindow(context, x, options), x.back()};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const WindowGeometry& g = geometry.window;
    const std::int64_t last = (g.output[axis] - 1) * g.stride[axis] - g.padding_begin[axis];
    if (2 * g.padding_begin[axis] > g.kernel[axis]) {
      ThrowShape(context, "pooling pads by at most half its kernel", x,
                 "use less padding: some windows would lie outside the image");
    }
    if (last >= g.input[axis]) {
      ThrowShape(context, "the last window of a pool begins inside the image", x,
                 "use less padding at the end: that window would lie outside the image");
    }
  }
  return geometry;
}

std::int64_t ScratchOf(Context& context, const PoolGeometry& geometry, DType dtype) {
  return context.backend().pool().Scratch(geometry, dtype);
}

Tensor OutputOf(Context& context, const PoolGeometry& geometry, const Var& x) {
  return context.Allocate(WindowOutputShape(geometry.window, x.shape(), geometry.channels),
                          x.dtype());
}

}  // namespace

Var MaxPool(Context& context, const Var& x, const WindowOptions& options) {
  if (IsBf16(x)) return ToActivation(context, MaxPool(context, CastToF32(context, x), options));
  const PoolGeometry geometry = FitPool(context, x.shape(), options);
  const Tensor y = OutputOf(context, geometry, x);
  const std::int64_t index_bytes = context.backend().pool().MaxIndexBytes(geometry, y.dtype());
  const Tensor index = context.Allocate({index_bytes}, DType::kU8);
  context.Launch({.kind = OperationKind::kPooling,
                  .bytes = BytesOf(x.value, y, index),
                  .scratch_bytes = ScratchOf(context, geometry, y.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.pool().MaxForward(geometry, x.value, y, index, scratch);
                 });
  return context.Record(y, x.needs_gradient(),
                        [=, slot = x.slot, shape = x.shape()](Context& ctx, Tensor dy) {
                          const Tensor dx = ctx.Allocate(shape, dy.dtype());
                          ctx.Launch({.kind = OperationKind::kPooling,
                                      .bytes = BytesOf(dy, index, dx),
                                      .scratch_bytes = ScratchOf(ctx, geometry, dx.dtype())},
                                     [&](Backend& backend, void* scratch) {
                                       backend.pool().MaxBackward(geometry, dy, index, dx, scratch);
                                     });
                          ctx.Accumulate(slot, dx);
                        });
}

Var AveragePool(Context& context, const Var& x, const WindowOptions& options, bool count_padding) {
  if (IsBf16(x)) {
    return ToActivation(context,
                        AveragePool(context, CastToF32(context, x), options, count_padding));
  }
  PoolGeometry geometry = FitPool(context, x.shape(), options);
  geometry.count_padding = count_padding;
  const Tensor y = OutputOf(context, geometry, x);
  context.Launch({.kind = OperationKind::kPooling,
                  .bytes = BytesOf(x.value, y),
                  .scratch_bytes = ScratchOf(context, geometry, y.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.pool().AverageForward(geometry, x.value, y, scratch);
                 });
  return context.Record(y, x.needs_gradient(),
                        [=, slot = x.slot, shape = x.shape()](Context& ctx, Tensor dy) {
                          const Tensor dx = ctx.Allocate(shape, dy.dtype());
                          ctx.Launch({.kind = OperationKind::kPooling,
                                      .bytes = BytesOf(dy, dx),
                                      .scratch_bytes = ScratchOf(ctx, geometry, dx.dtype())},
                                     [&](Backend& backend, void* scratch) {
                                       backend.pool().AverageBackward(geometry, dy, dx, scratch);
                                     });
                          ctx.Accumulate(slot, dx);
                        });
}

Var AdaptiveAveragePool(Context& context, const Var& x, const Spatial& output) {
  if (IsBf16(x)) {
    return ToActivation(context, AdaptiveAveragePool(context, CastToF32(context, x), output));
  }
  PoolGeometry geometry{FitWindow(context, x.shape(), {}), x.shape().back()};
  for (std::size_t axis = 0; axis < 5 - x.shape().rank(); ++axis) {
    if (output[axis] == 1) continue;
    ThrowShape(context, "adaptive pooling gives as many spatial axes as the input has", x.shape(),
               "give images as [N, H, W, C]");
  }
  geometry.window.output = output;
  const Tensor y = OutputOf(context, geometry, x);
  context.Launch({OperationKind::kPooling, BytesOf(x.value, y)}, [&](Backend& backend, void*) {
    backend.pool().AdaptiveForward(geometry, x.value, y);
  });
  return context.Record(
      y, x.needs_gradient(), [=, slot = x.slot, shape = x.shape()](Context& ctx, Tensor dy) {
        const Tensor dx = ctx.Allocate(shape, dy.dtype());
        ctx.Launch({OperationKind::kPooling, BytesOf(dy, dx)}, [&](Backend& backend, void*) {
          backend.pool().AdaptiveBackward(geometry, dy, dx);
        });
        ctx.Accumulate(slot, dx);
      });
}

}  // namespace frugal
