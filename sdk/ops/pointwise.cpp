#include "sdk/ops/pointwise.h"

#include <algorithm>
#include <string>

#include "sdk/autograd/saved_tensor.h"
#include "sdk/core/error.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/support/broadcast.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"
#include "sdk/ops/support/sum_to.h"

namespace frugal {
namespace {

// f(x), of which the output is kept for backward, or x.
Var Apply(Context& context, const Var& x, const UnaryFunction& f, bool keeps_output = false) {
  if (IsBf16(x))
    return ToActivation(context, Apply(context, CastToF32(context, x), f, keeps_output));
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(x.value, y)},
                 [&](Backend& backend, void*) { backend.array().UnaryForward(f, x.value, y); });
  const Var result = {y, x.slot};
  return context.Record(
      y, x.needs_gradient(),
      [f, kept = SavedTensor(context, keeps_output ? result : x), slot = x.slot](Context& ctx,
                                                                                 Tensor dy) {
        const Tensor of = kept.Get(ctx);
        const Tensor dx = ReuseOrAllocate(ctx, dy);
        ctx.Launch({OperationKind::kElementwise, BytesOf(dy, of, dx)},
                   [&](Backend& backend, void*) { backend.array().UnaryBackward(f, dy, of, dx); });
        ctx.Accumulate(slot, dx);
      });
}

// The gradient of one side of a choice: dy where it was chosen, else 0.
Tensor ChosenPart(Context& context, const Tensor& condition, const Tensor& dy, bool is_first) {
  Tensor part = context.Allocate(dy.shape(), dy.dtype());
  context.Launch(
      {OperationKind::kElementwise, BytesOf(condition, dy, part)}, [&](Backend& backend, void*) {
        backend.array().Select(condition, is_first ? dy : Tensor(), is_first ? Tensor() : dy, part);
      });
  return part;
}

// `a` and `b` are of the type that is computed in.
Var Choose(Context& context, const Var& condition, const Var& a, const Var& b) {
  const std::size_t rank = std::max({condition.shape().rank(), a.shape().rank(), b.shape().rank()});
  const Var typed = Cast(context, {condition.value}, a.dtype());
  const Tensor chooses = typed.value.Reshape(Widen(condition.shape(), rank));
  const Tensor left = a.value.Reshape(Widen(a.shape(), rank));
  const Tensor right = b.value.Reshape(Widen(b.shape(), rank));
  const Shape shape = BroadcastShape(context, BroadcastShape(context, left.shape(), right.shape()),
                                     chooses.shape());
  const Tensor y = context.Allocate(shape, a.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(chooses, left, right, y)},
                 [&](Backend& backend, void*) { backend.array().Select(chooses, left, right, y); });
  return context.Record(
      y, a.needs_gradient() || b.needs_gradient(),
      [chooses, left = left.shape(), right = right.shape(), a_shape = a.shape(),
       b_shape = b.shape(), a_slot = a.slot, b_slot = b.slot](Context& ctx, const Tensor& dy) {
        if (a_slot != Var::kNoGradient) {
          const Tensor da = ChosenPart(ctx, chooses, dy, true);
          ctx.Accumulate(a_slot, SumTo(ctx, da, left).Reshape(a_shape));
        }
        if (b_slot != Var::kNoGradient) {
          const Tensor db = ChosenPart(ctx, chooses, dy, false);
          ctx.Accumulate(b_slot, SumTo(ctx, db, right).Reshape(b_shape));
        }
      });
}

}  // namespace

Var Exp(Context& context, const Var& x) { return Activate(context, x, Activation::kExp); }
Var Log(Context& context, const Var& x) { return Apply(context, x, {UnaryKind::kLog}); }
Var Sqrt(Context& context, const Var& x) { return Apply(context, x, {UnaryKind::kSqrt}, true); }
Var Abs(Context& context, const Var& x) { return Apply(context, x, {UnaryKind::kAbs}); }

Var Pow(Context& context, const Var& x, double exponent) {
  return Apply(context, x, {UnaryKind::kPow, exponent});
}

Var Clamp(Context& context, const Var& x, double low, double high) {
  if (low <= high) return Apply(context, x, {UnaryKind::kClamp, low, high});
  throw UsageError({.where = "clamp",
                    .required = "the lower bound is not above the upper one",
                    .given = std::to_string(low) + " and " + std::to_string(high),
                    .advice = "give the lower bound first"});
}

Var AddScalar(Context& context, const Var& x, double number) {
  if (IsBf16(x)) return ToActivation(context, AddScalar(context, CastToF32(context, x), number));
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(x.value, y)}, [&](Backend& backend, void*) {
    backend.array().UnaryForward({UnaryKind::kShift, number}, x.value, y);
  });
  return context.Record(y, x.needs_gradient(), [slot = x.slot](Context& ctx, Tensor dy) {
    ctx.Accumulate(slot, std::move(dy));
  });
}

Var Where(Context& context, const Var& condition, const Var& a, const Var& b) {
  const bool narrow = IsBf16(a) || IsBf16(b);
  if (!narrow) {
    return Choose(context, IsBf16(condition) ? CastToF32(context, {condition.value}) : condition, a,
                  b);
  }
  const Var chosen = Choose(context, CastToF32(context, {condition.value}), CastToF32(context, a),
                            CastToF32(context, b));
  return ToActivation(context, chosen);
}

Var Greater(Context& context, const Var& a, const Var& b) {
  return Arithmetic(context, BinaryKind::kGreater, {a.value}, {b.value});
}

Var Constant(Context& context, const Shape& shape, double value) {
  const Tensor x = context.Allocate(shape, context.dtype());
  context.Launch({OperationKind::kElementwise, BytesOf(x)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(x, value); });
  return context.Record(x, false, {});
}

}  // namespace frugal
