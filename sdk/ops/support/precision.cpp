#include "sdk/ops/support/precision.h"

#include "sdk/autograd/saved_tensor.h"

namespace frugal {
namespace {

Tensor Convert(Context& context, const Tensor& x, DType dtype) {
  const Tensor y = context.Allocate(x.shape(), dtype);
  context.Launch({OperationKind::kCopy, BytesOf(x, y)},
                 [&](Backend& backend, void*) { backend.elementwise().Copy(x, y); });
  return y;
}

}  // namespace

// Who would keep the wider result keeps the narrower x, of which it is rematerialized; a narrower
// result is kept itself, unless x is rematerialized too.
Var Cast(Context& context, const Var& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const Var result =
      context.Record(Convert(context, x.value, dtype), x.needs_gradient(),
                     [slot = x.slot, back = x.dtype()](Context& ctx, const Tensor& dy) {
                       ctx.Accumulate(slot, Convert(ctx, dy, back));
                     });
  if (SizeOf(dtype) < SizeOf(x.dtype()) && !x.remat) return result;
  return RematerializedFrom(context, x, result, [dtype](Context& ctx, const Tensor& again) {
    return Convert(ctx, again, dtype);
  });
}

Var CastToF32(Context& context, const Var& x) { return Cast(context, x, MasterType(x.dtype())); }

Var ToActivation(Context& context, const Var& x) { return Cast(context, x, context.dtype()); }

}  // namespace frugal
