#include "sdk/ops/activation.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/support/check.h"

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

namespace {

Tensor Activated(Context& context, const Tensor& x, ActivationFunction function) {
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.LaunchResult(
      y, {OperationKind::kActivation, BytesOf(x, y)}, [=](Backend& backend, void*) {
        backend.elementwise().ActivationForward(function.kind, function.parameter, x, y);
      });
  return y;
}

}  // namespace

Var Activate(Context& context, const Var& x, ActivationFunction function) {
  if (function.kind == Activation::kIdentity) return x;
  const Tensor y = Activated(context, x.value, function);
  const bool from_output = DerivesFromOutput(function.kind);
  // Again from x, which is kept for backward in any case, or is rematerialized itself.
  Var output = {y, x.slot};
  if (!from_output || x.remat) {
    output = RematerializedFrom(context, x, output, [function](Context& ctx, const Tensor& again) {
      return Activated(ctx, again, function);
    });
  }
  Var result = context.Record(
      y, x.needs_gradient(),
      [function, kept = SavedTensor(context, from_output ? output : x), slot = x.slot](Context& ctx,
                                                                                       Tensor dy) {
        ctx.Accumulate(slot, ActivationGradient(ctx, function, std::move(dy), kept.Get(ctx)));
      });
  result.remat = std::move(output.remat);
  return result;
}

}  // namespace frugal
