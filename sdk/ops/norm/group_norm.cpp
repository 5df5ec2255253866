#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/norm/norm.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

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

// A group norm, but for what it norms, and what its forward pass found.
struct GroupCall {
  GroupNormGeometry geometry;
  NormParameters parameters;
  Tensor mean, rstd;
};

Tensor NormalizeAgain(Context& context, const Tensor& x, const GroupCall& call) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  const AffineTensors p = ValuesOf(context, call.parameters.weight, call.parameters.bias);
  context.Launch({OperationKind::kNorm, BytesOf(x, p.weight, p.bias, call.mean, call.rstd, y)},
                 [&](Backend& backend, void*) {
                   backend.norm().GroupNormalize(call.geometry, x, p.weight, p.bias, call.mean,
                                                 call.rstd, y);
                 });
  return y;
}

void Backward(Context& context, const Tensor& x, const GroupCall& call, int slot,
              const Tensor& dy) {
  const AffineTensors values = ValuesOf(context, call.parameters.weight, call.parameters.bias);
  const AffineTensors d = GradientsOf(context, call.parameters.weight, call.parameters.bias);
  const Tensor dx = context.Allocate(x.shape(), x.dtype());
  NormKernels& norm = context.backend().norm();
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(dy, x, values.weight, dx) + BytesOfGradients(d),
                  .scratch_bytes = norm.GroupBackwardScratch(call.geometry, dx.dtype())},
                 [&](Backend& backend, void* scratch) {
                   backend.norm().GroupBackward(call.geometry, dy, x, call.mean, call.rstd,
                                                values.weight, dx, d.weight, d.bias, d.accumulate,
                                                scratch);
                 });
  context.Accumulate(slot, dx);
}

}  // namespace

Var GroupNorm(Context& context, const Var& x, NormParameters parameters, std::int64_t groups,
              double epsilon) {
  if (IsBf16(x) && !context.backend().norm().TakesBf16(x.shape().back())) {
    return ToActivation(context,
                        GroupNorm(context, CastToF32(context, x), parameters, groups, epsilon));
  }
  const GroupNormGeometry g = FitGroups(context, x.shape(), parameters.weight, groups);
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  const Shape per_group = {g.batch, g.groups};
  const GroupCall call = {g, parameters, context.Allocate(per_group, context.master_dtype()),
                          context.Allocate(per_group, context.master_dtype())};
  const AffineTensors p = ValuesOf(context, parameters.weight, parameters.bias);
  context.Launch(
      {OperationKind::kNorm, BytesOf(x.value, p.weight, p.bias, y, call.mean, call.rstd)},
      [&](Backend& backend, void*) {
        backend.norm().GroupForward(g, x.value, p.weight, p.bias, epsilon, y, call.mean, call.rstd);
      });
  const Var result = context.Record(
      y, IsDifferentiable(x, parameters.weight, parameters.bias),
      [call, kept = SavedTensor(context, x), slot = x.slot](Context& ctx, const Tensor& dy) {
        Backward(ctx, kept.Get(ctx), call, slot, dy);
      });
  return RematerializedFrom(context, x, result, [call](Context& ctx, const Tensor& again) {
    return NormalizeAgain(ctx, again, call);
  });
}

}  // namespace frugal
