#include "sdk/ops/activation.h"

#include "sdk/ops/check.h"

namespace frugal {

Tensor ActivationGradient(Context& context, ActivationFunction function, Tensor dy,
                          const Tensor& kept) {
  if (function.kind == Activation::kIdentity) return dy;
  const Tensor dx = ReuseOrAllocate(context, dy);
  context.Launch({OperationKind::kActivation, BytesOf(dy, kept, dx)}, [&](Backend& backend, void*) {
    backend.elementwise().ActivationBackward(function.kind, function.parameter, dy, kept, dx);
  });
  return dx;
}

Var Activate(Context& context, const Var& x, ActivationFunction function) {
  if (function.kind == Activation::kIdentity) return x;
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kActivation, BytesOf(x.value, y)}, [&](Backend& backend, void*) {
    backend.elementwise().ActivationForward(function.kind, function.parameter, x.value, y);
  });
  const Tensor kept = DerivesFromOutput(function.kind) ? y : x.value;
  return context.Record(y, x.needs_gradient(), [=, slot = x.slot](Context& ctx, Tensor dy) {
    ctx.Accumulate(slot, ActivationGradient(ctx, function, std::move(dy), kept));
  });
}

}  // namespace frugal
