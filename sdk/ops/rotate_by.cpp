#include "sdk/ops/check.h"
#include "sdk/ops/precision.h"
#include "sdk/ops/rotary.h"

namespace frugal {
namespace {

void CheckShapes(Context& context, const Var& x, const Var& cosine, const Var& sine) {
  if (x.shape().rank() != 4 || x.shape().back() % 2 != 0) {
    ThrowShape(context, "what is turned by pairs is [N, T, H, d] with an even d", x.shape(),
               "reshape the heads to an axis of their own");
  }
  const Shape angles = {x.shape()[1], x.shape()[2], x.shape()[3] / 2};
  for (const Var& part : {cosine, sine}) {
    if (part.shape() == angles) continue;
    ThrowShape(context,
               "the cosines and sines that turn x " + ToString(x.shape()) +
                   " are [T, H, d / 2] = " + ToString(angles),
               part.shape(), "make one angle for each position, head and pair");
  }
}

struct Kept {
  Var x, cosine, sine;
};

// Gradients towards both tables at once.
void GiveAngles(Context& context, const Kept& kept, const Tensor& dy) {
  if (!kept.cosine.needs_gradient() && !kept.sine.needs_gradient()) return;
  const Tensor dcosine = context.Allocate(kept.cosine.shape(), kept.cosine.dtype());
  const Tensor dsine = context.Allocate(kept.sine.shape(), kept.sine.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(dy, kept.x.value, dcosine, dsine)},
                 [&](Backend& backend, void*) {
                   backend.sequence().RotateByBackwardAngles(dy, kept.x.value, dcosine, dsine);
                 });
  context.Accumulate(kept.cosine.slot, dcosine);
  context.Accumulate(kept.sine.slot, dsine);
}

}  // namespace

Var RotateBy(Context& context, const Var& x, const Var& cosine, const Var& sine) {
  if (IsBf16(cosine) || IsBf16(sine)) {  // tables are exact
    return RotateBy(context, x, Widened(context, cosine), Widened(context, sine));
  }
  CheckShapes(context, x, cosine, sine);
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(x.value, cosine.value, sine.value, y)},
                 [&](Backend& backend, void*) {
                   backend.sequence().RotateBy(x.value, cosine.value, sine.value, false, y);
                 });
  const bool differentiable =
      x.needs_gradient() || cosine.needs_gradient() || sine.needs_gradient();
  return context.Record(y, differentiable, [kept = Kept{x, cosine, sine}](Context& ctx, Tensor dy) {
    GiveAngles(ctx, kept, dy);
    if (!kept.x.needs_gradient()) return;
    const Tensor dx = ReuseOrAllocate(ctx, dy);
    ctx.Launch({OperationKind::kElementwise, BytesOf(dy, kept.cosine.value, kept.sine.value, dx)},
               [&](Backend& backend, void*) {
                 backend.sequence().RotateBy(dy, kept.cosine.value, kept.sine.value, true, dx);
               });
    ctx.Accumulate(kept.x.slot, dx);
  });
}

}  // namespace frugal
