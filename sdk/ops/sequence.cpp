#include "sdk/ops/sequence.h"

#include "sdk/ops/affine_parameters.h"
#include "sdk/ops/check.h"

namespace frugal {

Var RmsNorm(Context& context, const Var& x, const Parameter* weight, double epsilon) {
  if (weight != nullptr && x.shape().back() != weight->shape[0]) {
    ThrowShape(context, "rms norm takes " + std::to_string(weight->shape[0]) + " features",
               x.shape(), "change the layer's size");
  }
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  const Tensor rstd = context.Allocate({x.shape().RowCount()}, context.exact_dtype());
  const Tensor scale = ValuesOf(context, weight, nullptr).weight;
  context.Launch({OperationKind::kNorm, BytesOf(x.value, scale, y, rstd)},
                 [&](Backend& backend, void*) {
                   backend.sequence().RmsForward(x.value, scale, epsilon, y, rstd);
                 });
  return context.Record(y, IsDifferentiable(x, weight, nullptr), [=](Context& ctx, Tensor dy) {
    const Tensor value = ValuesOf(ctx, weight, nullptr).weight;
    const AffineTensors gradient = GradientsOf(ctx, weight, nullptr);
    const Tensor dx = ctx.Allocate(x.shape(), x.dtype());
    ctx.Launch({.kind = OperationKind::kNorm,
                .bytes = BytesOf(dy, x.value, value, dx) + BytesOfGradients(gradient),
                .scratch_bytes = ctx.planning_backend().sequence().RmsBackwardScratch(x.value)},
               [&](Backend& backend, void* scratch) {
                 backend.sequence().RmsBackward(dy, x.value, rstd, value, dx, gradient.weight,
                                                gradient.accumulate, scratch);
               });
    ctx.Accumulate(x.slot, dx);
  });
}

Var Gated(Context& context, const Var& x, Activation f, bool gate_last) {
  if (x.shape().rank() == 0 || x.shape().back() % 2 != 0) {
    ThrowShape(context, "a gated unit takes an even number of features", x.shape(),
               "project to twice the width");
  }
  Shape half = x.shape();
  half[half.rank() - 1] /= 2;
  const Tensor y = context.Allocate(half, x.dtype());
  context.Launch({OperationKind::kActivation, BytesOf(x.value, y)}, [&](Backend& backend, void*) {
    backend.sequence().GatedForward(f, gate_last, x.value, y);
  });
  return context.Record(y, x.needs_gradient(), [=](Context& ctx, Tensor dy) {
    const Tensor dx = ctx.Allocate(x.shape(), x.dtype());
    ctx.Launch({OperationKind::kActivation, BytesOf(dy, x.value, dx)},
               [&](Backend& backend, void*) {
                 backend.sequence().GatedBackward(f, gate_last, dy, x.value, dx);
               });
    ctx.Accumulate(x.slot, dx);
  });
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

}  // namespace frugal
