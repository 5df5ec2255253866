#include "sdk/backend/array_kernels.h"
#include "sdk/ops/boxes.h"
#include "sdk/ops/check.h"
#include "sdk/ops/precision.h"

namespace frugal {

Var Upsample(Context& context, const Var& x, std::int64_t factor, Upsampling kind) {
  if (IsBf16(x)) return ToActivation(context, Upsample(context, Widened(context, x), factor, kind));
  if (x.shape().rank() != 4 || factor < 1) {
    ThrowShape(context, "upsampling takes images [N, H, W, C] and a factor of at least 1",
               x.shape(), "give images, channels last");
  }
  Shape shape = x.shape();
  shape[1] *= factor;
  shape[2] *= factor;
  const Tensor y = context.Allocate(shape, x.dtype());
  context.Launch({OperationKind::kResample, BytesOf(x.value, y)}, [&](Backend& backend, void*) {
    if (kind == Upsampling::kNearest) return backend.resample().NearestForward(factor, x.value, y);
    backend.resample().BilinearForward(factor, x.value, y);
  });
  return context.Record(
      y, x.needs_gradient(), [=, slot = x.slot, back = x.shape()](Context& ctx, Tensor dy) {
        const Tensor dx = ctx.Allocate(back, dy.dtype());
        ctx.Launch({OperationKind::kResample, BytesOf(dy, dx)}, [&](Backend& backend, void*) {
          if (kind == Upsampling::kNearest) {
            return backend.resample().NearestBackward(factor, dy, dx);
          }
          backend.resample().BilinearBackward(factor, dy, dx);
        });
        ctx.Accumulate(slot, dx);
      });
}

}  // namespace frugal
