#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/norm/norm.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

Tensor RmsNormalized(Context& context, const Tensor& x, const Parameter* weight, double epsilon,
                     const Tensor& rstd) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  const Tensor scale = ValuesOf(context, weight, nullptr).weight;
  context.Launch({OperationKind::kNorm, BytesOf(x, scale, y, rstd)}, [&](Backend& backend, void*) {
    backend.sequence().RmsForward(x, scale, epsilon, y, rstd);
  });
  return y;
}

void RmsBackward(Context& context, const Tensor& x, const Parameter* weight, const Tensor& rstd,
                 int slot, const Tensor& dy) {
  const Tensor value = ValuesOf(context, weight, nullptr).weight;
  const AffineTensors gradient = GradientsOf(context, weight, nullptr);
  const Tensor dx = context.Allocate(x.shape(), x.dtype());
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(dy, x, value, dx) + BytesOfGradients(gradient),
                  .scratch_bytes = context.backend().sequence().RmsBackwardScratch(x)},
                 [&](Backend& backend, void* scratch) {
                   backend.sequence().RmsBackward(dy, x, rstd, value, dx, gradient.weight,
                                                  gradient.accumulate, scratch);
                 });
  context.Accumulate(slot, dx);
}

}  // namespace

Var RmsNorm(Context& context, const Var& x, const Parameter* weight, double epsilon) {
  if (weight != nullptr && x.shape().back() != weight->shape[0]) {
    ThrowShape(context, "rms norm takes " + std::to_string(weight->shape[0]) + " features",
               x.shape(), "change the layer's size");
  }
  const Tensor rstd = context.Allocate({x.shape().RowCount()}, context.master_dtype());
  const Tensor y = RmsNormalized(context, x.value, weight, epsilon, rstd);
  const Var result = context.Record(y, IsDifferentiable(x, weight, nullptr),
                                    [weight, rstd, kept = SavedTensor(context, x), slot = x.slot](
                                        Context& ctx, const Tensor& dy) {
                                      RmsBackward(ctx, kept.Get(ctx), weight, rstd, slot, dy);
                                    });
  return RematerializedFrom(context, x, result, [=](Context& ctx, const Tensor& again) {
    return RmsNormalized(ctx, again, weight, epsilon, rstd);
  });
}

}  // namespace frugal
