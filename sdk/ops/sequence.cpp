#include "sdk/ops/sequence.h"

#include "sdk/autograd/kept_value.h"
#include "sdk/ops/affine_parameters.h"
#include "sdk/ops/check.h"

namespace frugal {

namespace {

Tensor RmsNormalized(Context& context, const Tensor& x, const Parameter* weight, double epsilon,
                     const Tensor& rstd) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  const Tensor scale = ValuesOf(context, weight, nullptr).weight;
  context.Launch({OperationKind::kNorm, BytesOf(x, scale, y, rstd)}, [&](Backend& backend, void*) {
    backend.sequence().RmsForward(x, scale, epsilon, y, rstd);
  });
  return y;
}

void RmsBackward(Context& context, const Tensor& x, const Parameter* weight, const Tensor& rstd,
                 int slot, const Tensor& dy) {
  const Tensor value = ValuesOf(context, weight, nullptr).weight;
  const AffineTensors gradient = GradientsOf(context, weight, nullptr);
  const Tensor dx = context.Allocate(x.shape(), x.dtype());
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(dy, x, value, dx) + BytesOfGradients(gradient),
                  .scratch_bytes = context.planning_backend().sequence().RmsBackwardScratch(x)},
                 [&](Backend& backend, void* scratch) {
                   backend.sequence().RmsBackward(dy, x, rstd, value, dx, gradient.weight,
                                                  gradient.accumulate, scratch);
                 });
  context.Accumulate(slot, dx);
}

Tensor GatedProduct(Context& context, const Tensor& x, Activation f, bool gate_last) {
  Shape half = x.shape();
  half[half.rank() - 1] /= 2;
  Tensor y = context.Allocate(half, x.dtype());
  context.Launch({OperationKind::kActivation, BytesOf(x, y)}, [&](Backend& backend, void*) {
    backend.sequence().GatedForward(f, gate_last, x, y);
  });
  return y;
}

}  // namespace

Var RmsNorm(Context& context, const Var& x, const Parameter* weight, double epsilon) {
  if (weight != nullptr && x.shape().back() != weight->shape[0]) {
    ThrowShape(context, "rms norm takes " + std::to_string(weight->shape[0]) + " features",
               x.shape(), "change the layer's size");
  }
  const Tensor rstd = context.Allocate({x.shape().RowCount()}, context.exact_dtype());
  const Tensor y = RmsNormalized(context, x.value, weight, epsilon, rstd);
  const Var result = context.Record(
      y, IsDifferentiable(x, weight, nullptr),
      [weight, rstd, kept = KeptValue(x), slot = x.slot](Context& ctx, const Tensor& dy) {
        RmsBackward(ctx, kept.Get(ctx), weight, rstd, slot, dy);
      });
  return MadeAgainFrom(x, result, [=](Context& ctx, const Tensor& again) {
    return RmsNormalized(ctx, again, weight, epsilon, rstd);
  });
}

Var Gated(Context& context, const Var& x, Activation f, bool gate_last) {
  if (x.shape().rank() == 0 || x.shape().back() % 2 != 0) {
    ThrowShape(context, "a gated unit takes an even number of features", x.shape(),
               "project to twice the width");
  }
  const Tensor y = GatedProduct(context, x.value, f, gate_last);
  const Var result = context.Record(
      y, x.needs_gradient(),
      [f, gate_last, kept = KeptValue(x), slot = x.slot](Context& ctx, const Tensor& dy) {
        const Tensor value = kept.Get(ctx);
        const Tensor dx = ctx.Allocate(value.shape(), value.dtype());
        ctx.Launch({OperationKind::kActivation, BytesOf(dy, value, dx)},
                   [&](Backend& backend, void*) {
                     backend.sequence().GatedBackward(f, gate_last, dy, value, dx);
                   });
        ctx.Accumulate(slot, dx);
      });
  return MadeAgainFrom(x, result, [f, gate_last](Context& ctx, const Tensor& again) {
    return GatedProduct(ctx, again, f, gate_last);
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
