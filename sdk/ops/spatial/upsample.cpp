#include "sdk/ops/spatial/upsample.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/backend/array_kernels.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

Tensor Enlarged(Context& context, const Tensor& x, std::int64_t factor, Upsampling kind) {
  const Shape& from = x.shape();
  Tensor y = context.Allocate({from[0], factor * from[1], factor * from[2], from[3]}, x.dtype());
  context.Launch({OperationKind::kResample, BytesOf(x, y)}, [&](Backend& backend, void*) {
    if (kind == Upsampling::kNearest) return backend.resample().NearestForward(factor, x, y);
    backend.resample().BilinearForward(factor, x, y);
  });
  return y;
}

}  // namespace

Var Upsample(Context& context, const Var& x, std::int64_t factor, Upsampling kind) {
  if (IsBf16(x))
    return ToActivation(context, Upsample(context, CastToF32(context, x), factor, kind));
  if (x.shape().rank() != 4 || factor < 1) {
    ThrowShape(context, "upsampling takes images [N, H, W, C] and a factor of at least 1",
               x.shape(), "give images, channels last");
  }
  const Var result = context.Record(
      Enlarged(context, x.value, factor, kind), x.needs_gradient(),
      [=, slot = x.slot, back = x.shape()](Context& ctx, Tensor dy) {
        const Tensor dx = ctx.Allocate(back, dy.dtype());
        ctx.Launch({OperationKind::kResample, BytesOf(dy, dx)}, [&](Backend& backend, void*) {
          if (kind == Upsampling::kNearest) {
            return backend.resample().NearestBackward(factor, dy, dx);
          }
          backend.resample().BilinearBackward(factor, dy, dx);
        });
        ctx.Accumulate(slot, dx);
      });
  return RematerializedFrom(context, x, result, [=](Context& ctx, const Tensor& again) {
    return Enlarged(ctx, again, factor, kind);
  });
}

}  // namespace frugal
