#include "sdk/ops/arithmetic.h"

#include <algorithm>

#include "sdk/ops/support/broadcast.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"
#include "sdk/ops/support/sum_to.h"

namespace frugal {
namespace {

Tensor Apply(Context& context, BinaryKind kind, const Tensor& a, const Tensor& b,
             const Shape& shape) {
  const Tensor y = context.Allocate(shape, a.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(a, b, y)},
                 [&](Backend& backend, void*) { backend.array().Binary(kind, a, b, y); });
  return y;
}

Tensor Negated(Context& context, const Tensor& x) {
  const Tensor y = ReuseOrAllocate(context, x);
  context.Launch({OperationKind::kElementwise, BytesOf(x, y)},
                 [&](Backend& backend, void*) { backend.elementwise().Scale(x, -1, y); });
  return y;
}

// The gradients of a op b before summing over what was repeated.
Tensor FirstGradient(Context& context, BinaryKind kind, const Tensor& dy, const Tensor& b) {
  if (kind == BinaryKind::kMultiply || kind == BinaryKind::kDivide) {
    return Apply(context, kind, dy, b, dy.shape());
  }
  return dy;
}
Tensor SecondGradient(Context& context, BinaryKind kind, const Tensor& dy, const Tensor& a,
                      const Tensor& b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return dy;
    case BinaryKind::kSubtract:
      return Negated(context, dy);
    case BinaryKind::kMultiply:
      return Apply(context, kind, dy, a, dy.shape());
    case BinaryKind::kDivide:
    case BinaryKind::kGreater:  // has no gradient
      break;
  }
  // d(a / b) / db = -(a / b) / b
  const Tensor quotient = Apply(context, BinaryKind::kDivide, a, b, dy.shape());
  const Tensor slope = Apply(context, BinaryKind::kDivide, quotient, b, dy.shape());
  return Negated(context, Apply(context, BinaryKind::kMultiply, dy, slope, dy.shape()));
}

}  // namespace

Var Arithmetic(Context& context, BinaryKind kind, const Var& a, const Var& b) {
  if (IsBf16(a) || IsBf16(b)) {
    return ToActivation(context,
                        Arithmetic(context, kind, CastToF32(context, a), CastToF32(context, b)));
  }
  const std::size_t rank = std::max(a.shape().rank(), b.shape().rank());
  const Tensor x = a.value.Reshape(Widen(a.shape(), rank));
  const Tensor z = b.value.Reshape(Widen(b.shape(), rank));
  const Shape shape = BroadcastShape(context, x.shape(), z.shape());
  const Tensor y = Apply(context, kind, x, z, shape);
  const bool product = kind == BinaryKind::kMultiply || kind == BinaryKind::kDivide;
  const Shape x_shape = x.shape();
  const Shape z_shape = z.shape();
  const Shape a_shape = a.shape();
  const Shape b_shape = b.shape();
  const bool differentiable = a.needs_gradient() || b.needs_gradient();
  if (kind == BinaryKind::kGreater) return context.Record(y, false, {});
  return context.Record(y, differentiable,
                        [=, kept_x = product ? x : Tensor(), kept_z = product ? z : Tensor(),
                         a_slot = a.slot, b_slot = b.slot](Context& ctx, Tensor dy) {
                          if (a_slot != Var::kNoGradient) {
                            const Tensor da = FirstGradient(ctx, kind, dy, kept_z);
                            ctx.Accumulate(a_slot, SumTo(ctx, da, x_shape).Reshape(a_shape));
                          }
                          if (b_slot != Var::kNoGradient) {
                            const Tensor db = SecondGradient(ctx, kind, dy, kept_x, kept_z);
                            ctx.Accumulate(b_slot, SumTo(ctx, db, z_shape).Reshape(b_shape));
                          }
                        });
}

}  // namespace frugal
