#include "sdk/ops/precision.h"

namespace frugal {
namespace {

Tensor Convert(Context& context, const Tensor& x, DType dtype) {
  const Tensor y = context.Allocate(x.shape(), dtype);
  context.Launch({OperationKind::kCopy, BytesOf(x, y)},
                 [&](Backend& backend, void*) { backend.elementwise().Copy(x, y); });
  return y;
}

}  // namespace

Var Cast(Context& context, const Var& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return context.Record(Convert(context, x.value, dtype), x.needs_gradient(),
                        [slot = x.slot, back = x.dtype()](Context& ctx, const Tensor& dy) {
                          ctx.Accumulate(slot, Convert(ctx, dy, back));
                        });
}

Var Widened(Context& context, const Var& x) { return Cast(context, x, ExactType(x.dtype())); }

Var ToActivation(Context& context, const Var& x) { return Cast(context, x, context.dtype()); }

}  // namespace frugal
