#include "sdk/ops/gated.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

Tensor GatedProduct(Context& context, const Tensor& x, Activation f, bool gate_last) {
  Shape half = x.shape();
  half[half.rank() - 1] /= 2;
  Tensor y = context.Allocate(half, x.dtype());
  context.LaunchResult(
      y, {OperationKind::kActivation, BytesOf(x, y)},
      [=](Backend& backend, void*) { backend.sequence().GatedForward(f, gate_last, x, y); });
  return y;
}

}  // namespace

Var Gated(Context& context, const Var& x, Activation f, bool gate_last) {
  if (x.shape().rank() == 0 || x.shape().back() % 2 != 0) {
    ThrowShape(context, "a gated unit takes an even number of features", x.shape(),
               "project to twice the width");
  }
  const Tensor y = GatedProduct(context, x.value, f, gate_last);
  const Var result =
      context.Record(y, x.needs_gradient(),
                     [f, gate_last, kept = SavedTensor(context, x), slot = x.slot](
                         Context& ctx, const Tensor& dy) {
                       const Tensor value = kept.Get(ctx);
                       const Tensor dx = ctx.Allocate(value.shape(), value.dtype());
                       ctx.Launch({OperationKind::kActivation, BytesOf(dy, value, dx)},
                                  [&](Backend& backend, void*) {
                                    backend.sequence().GatedBackward(f, gate_last, dy, value, dx);
                                  });
                       ctx.Accumulate(slot, dx);
                     });
  return RematerializedFrom(context, x, result, [f, gate_last](Context& ctx, const Tensor& again) {
    return GatedProduct(ctx, again, f, gate_last);
  });
}

}  // namespace frugal
