#include "sdk/ops/affine_parameters.h"
#include "sdk/ops/check.h"
#include "sdk/ops/norm.h"

namespace frugal {

Var LayerNorm(Context& context, const Var& x, NormParameters parameters, double epsilon) {
  if (parameters.weight && x.shape().back() != parameters.weight->shape[0]) {
    ThrowShape(context,
               "layer norm takes " + std::to_string(parameters.weight->shape[0]) + " features",
               x.shape(), "change the layer's size");
  }
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  const Tensor mean = context.Allocate({x.shape().RowCount()}, context.exact_dtype());
  const Tensor rstd = context.Allocate({x.shape().RowCount()}, context.exact_dtype());
  const AffineTensors p = ValuesOf(context, parameters.weight, parameters.bias);
  context.Launch({OperationKind::kNorm, BytesOf(x.value, p.weight, p.bias, y, mean, rstd)},
                 [&](Backend& backend, void*) {
                   backend.norm().LayerForward(x.value, p.weight, p.bias, epsilon, y, mean, rstd);
                 });
  const bool differentiable = IsDifferentiable(x, parameters.weight, parameters.bias);
  return context.Record(y, differentiable, [=](Context& ctx, Tensor dy) {
    const AffineTensors values = ValuesOf(ctx, parameters.weight, parameters.bias);
    const AffineTensors gradients = GradientsOf(ctx, parameters.weight, parameters.bias);
    const Tensor dx = ctx.Allocate(x.shape(), x.dtype());
    ctx.Launch({.kind = OperationKind::kNorm,
                .bytes = BytesOf(dy, x.value, values.weight, dx) + BytesOfGradients(gradients),
                .scratch_bytes = ctx.planning_backend().norm().LayerBackwardScratch(x.value)},
               [&](Backend& backend, void* scratch) {
                 backend.norm().LayerBackward(dy, x.value, mean, rstd, values.weight, dx,
                                              gradients.weight, gradients.bias,
                                              gradients.accumulate, scratch);
               });
    ctx.Accumulate(x.slot, dx);
  });
}

}  // namespace frugal
