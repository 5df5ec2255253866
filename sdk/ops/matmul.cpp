#include "sdk/ops/matmul.h"

#include <algorithm>

#include "sdk/ops/support/broadcast.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"
#include "sdk/ops/support/sum_to.h"

namespace frugal {
namespace {

struct MatMulShape {
  Shape a;  // with ones in front, so that both have the result's rank
  Shape b;
  Shape y;
  double flops = 0;
};

MatMulShape FitMatMul(Context& context, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  if (a.rank() < 2 || b.rank() < 2 || a.back() != b[b.rank() - 2]) {
    ThrowShape(context, "a product takes [..., M, K] and [..., K, N], here " + ToString(a), b,
               "transpose or reshape one of the two");
  }
  MatMulShape fit{Widen(a, rank), Widen(b, rank), Widen(a, rank), 0};
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (fit.a[i] != fit.b[i] && fit.a[i] != 1 && fit.b[i] != 1) {
      ThrowShape(context, "leading extents are equal or 1, as those of " + ToString(a), b,
                 "repeat one of the two");
    }
    fit.y[i] = std::max(fit.a[i], fit.b[i]);
  }
  fit.y[rank - 1] = b.back();
  fit.flops = 2.0 * static_cast<double>(fit.y.ElementCount()) * static_cast<double>(a.back());
  return fit;
}

Tensor Product(Context& context, const Tensor& a, bool transpose_a, const Tensor& b,
               bool transpose_b, const Shape& shape, double flops) {
  const Tensor y = context.Allocate(shape, a.dtype());
  context.Launch({.kind = OperationKind::kMatmul, .bytes = BytesOf(a, b, y), .flops = flops},
                 [&](Backend& backend, void*) {
                   backend.array().BatchedProduct(a, transpose_a, b, transpose_b, y);
                 });
  return y;
}

// The leading extents of y with the last two of `matrix`.
Shape LeadingOf(const Shape& y, const Shape& matrix) {
  Shape shape = y;
  shape[y.rank() - 2] = matrix[y.rank() - 2];
  shape[y.rank() - 1] = matrix[y.rank() - 1];
  return shape;
}

}  // namespace

Var MatMul(Context& context, const Var& a, const Var& b) {
  if (IsBf16(a) || IsBf16(b)) {
    return ToActivation(context, MatMul(context, CastToF32(context, a), CastToF32(context, b)));
  }
  const MatMulShape fit = FitMatMul(context, a.shape(), b.shape());
  const Tensor x = a.value.Reshape(fit.a);
  const Tensor z = b.value.Reshape(fit.b);
  const Tensor y = Product(context, x, false, z, false, fit.y, fit.flops);
  const Shape a_shape = a.shape();
  const Shape b_shape = b.shape();
  return context.Record(
      y, a.needs_gradient() || b.needs_gradient(),
      [=, a_slot = a.slot, b_slot = b.slot](Context& ctx, Tensor dy) {
        if (a_slot != Var::kNoGradient) {
          const Tensor da = Product(ctx, dy, false, z, true, LeadingOf(fit.y, fit.a), fit.flops);
          ctx.Accumulate(a_slot, SumTo(ctx, da, fit.a).Reshape(a_shape));
        }
        if (b_slot != Var::kNoGradient) {
          const Tensor db = Product(ctx, x, true, dy, false, LeadingOf(fit.y, fit.b), fit.flops);
          ctx.Accumulate(b_slot, SumTo(ctx, db, fit.b).Reshape(b_shape));
        }
      });
}

}  // namespace frugal
