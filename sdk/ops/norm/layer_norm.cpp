#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/norm/norm.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

struct RowStatistics {
  Tensor mean, rstd;
};

Tensor Normalized(Context& context, const Tensor& x, NormParameters parameters, double epsilon,
                  const RowStatistics& rows) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  const AffineTensors p = ValuesOf(context, parameters.weight, parameters.bias);
  context.Launch({OperationKind::kNorm, BytesOf(x, p.weight, p.bias, y, rows.mean, rows.rstd)},
                 [&](Backend& backend, void*) {
                   backend.norm().LayerForward(x, p.weight, p.bias, epsilon, y, rows.mean,
                                               rows.rstd);
                 });
  return y;
}

void Backward(Context& context, const Tensor& x, NormParameters parameters,
              const RowStatistics& rows, int slot, const Tensor& dy) {
  const AffineTensors values = ValuesOf(context, parameters.weight, parameters.bias);
  const AffineTensors gradients = GradientsOf(context, parameters.weight, parameters.bias);
  const Tensor dx = context.Allocate(x.shape(), x.dtype());
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(dy, x, values.weight, dx) + BytesOfGradients(gradients),
                  .scratch_bytes = context.backend().norm().LayerBackwardScratch(x)},
                 [&](Backend& backend, void* scratch) {
                   backend.norm().LayerBackward(dy, x, rows.mean, rows.rstd, values.weight, dx,
                                                gradients.weight, gradients.bias,
                                                gradients.accumulate, scratch);
                 });
  context.Accumulate(slot, dx);
}

}  // namespace

Var LayerNorm(Context& context, const Var& x, NormParameters parameters, double epsilon) {
  if (parameters.weight && x.shape().back() != parameters.weight->shape[0]) {
    ThrowShape(context,
               "layer norm takes " + std::to_string(parameters.weight->shape[0]) + " features",
               x.shape(), "change the layer's size");
  }
  const Shape per_row = {x.shape().RowCount()};
  const RowStatistics rows = {context.Allocate(per_row, context.master_dtype()),
                              context.Allocate(per_row, context.master_dtype())};
  const Tensor y = Normalized(context, x.value, parameters, epsilon, rows);
  const Var result = context.Record(y, IsDifferentiable(x, parameters.weight, parameters.bias),
                                    [parameters, rows, kept = SavedTensor(context, x),
                                     slot = x.slot](Context& ctx, const Tensor& dy) {
                                      Backward(ctx, kept.Get(ctx), parameters, rows, slot, dy);
                                    });
  return RematerializedFrom(context, x, result, [=](Context& ctx, const Tensor& again) {
    return Normalized(ctx, again, parameters, epsilon, rows);
  });
}

}  // namespace frugal
