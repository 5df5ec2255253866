#include "sdk/ops/affine_parameters.h"
#include "sdk/ops/check.h"
#include "sdk/ops/norm.h"
#include "sdk/ops/precision.h"

namespace frugal {
namespace {

GroupNormGeometry FitGroups(Context& context, const Shape& x, const Parameter* weight,
                            std::int64_t groups) {
  if (weight && x.rank() >= 2 && x.back() != weight->shape[0]) {
    ThrowShape(context, "group norm takes " + std::to_string(weight->shape[0]) + " channels", x,
               "change the layer's size");
  }
  if (x.rank() < 2 || x.back() % groups != 0) {
    ThrowShape(context,
               "group norm takes channels that " + std::to_string(groups) + " groups divide", x,
               "choose another number of groups");
  }
  std::int64_t size = 1;
  for (std::size_t axis = 1; axis + 1 < x.rank(); ++axis) size *= x[axis];
  return {.batch = x[0], .size = size, .channels = x.back(), .groups = groups};
}

}  // namespace

Var GroupNorm(Context& context, const Var& x, NormParameters parameters, std::int64_t groups,
              double epsilon) {
  if (IsBf16(x) && !context.planning_backend().norm().TakesBf16(x.shape().back())) {
    return ToActivation(context,
                        GroupNorm(context, Widened(context, x), parameters, groups, epsilon));
  }
  const GroupNormGeometry g = FitGroups(context, x.shape(), parameters.weight, groups);
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  const Tensor mean = context.Allocate({g.batch, g.groups}, context.exact_dtype());
  const Tensor rstd = context.Allocate({g.batch, g.groups}, context.exact_dtype());
  const AffineTensors p = ValuesOf(context, parameters.weight, parameters.bias);
  context.Launch({OperationKind::kNorm, BytesOf(x.value, p.weight, p.bias, y, mean, rstd)},
                 [&](Backend& backend, void*) {
                   backend.norm().GroupForward(g, x.value, p.weight, p.bias, epsilon, y, mean,
                                               rstd);
                 });
  const bool differentiable = IsDifferentiable(x, parameters.weight, parameters.bias);
  return context.Record(y, differentiable, [=](Context& ctx, Tensor dy) {
    const AffineTensors values = ValuesOf(ctx, parameters.weight, parameters.bias);
    const AffineTensors gradients = GradientsOf(ctx, parameters.weight, parameters.bias);
    const Tensor dx = ctx.Allocate(x.shape(), x.dtype());
    ctx.Launch({.kind = OperationKind::kNorm,
                .bytes = BytesOf(dy, x.value, values.weight, dx) + BytesOfGradients(gradients),
                .scratch_bytes = ctx.planning_backend().norm().GroupBackwardScratch(g, dx.dtype())},
               [&](Backend& backend, void* scratch) {
                 backend.norm().GroupBackward(g, dy, x.value, mean, rstd, values.weight, dx,
                                              gradients.weight, gradients.bias,
                                              gradients.accumulate, scratch);
               });
    ctx.Accumulate(x.slot, dx);
  });
}

}  // namespace frugal
