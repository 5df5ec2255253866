#include "sdk/ops/modulation.h"

#include "sdk/ops/affine_parameters.h"
#include "sdk/ops/check.h"
#include "sdk/ops/precision.h"

namespace frugal {
namespace {

using LayerParts = ModulationKernels::LayerParts;
using LayerGradients = ModulationKernels::LayerGradients;

void CheckSamples(Context& context, const Var& x) {
  if (x.shape().rank() < 2) {
    ThrowShape(context, "what is modulated is [N, ..., D]", x.shape(), "give x a batch axis");
  }
}

// A part [N, D] in x's element type, or none.
Var PartOf(Context& context, const Var& x, const Var& part, const std::string& name) {
  if (!part.value) return part;
  const Shape expected = {x.shape()[0], x.shape().back()};
  if (!(part.shape() == expected)) {
    ThrowShape(context,
               "the " + name + " of x " + ToString(x.shape()) + " is " + ToString(expected),
               part.shape(), "project the condition to as many features as x has");
  }
  return Cast(context, part, x.dtype());
}

// A place for the gradient of a part, where one is wanted.
Tensor PlaceOf(Context& context, int slot, const Shape& shape, DType dtype) {
  return slot == Var::kNoGradient ? Tensor() : context.Allocate(shape, dtype);
}

void GiveTo(Context& context, int slot, const Tensor& gradient) {
  if (gradient) context.Accumulate(slot, gradient);
}

void RequireScale(Context& context, const Var& x, const Var& scale) {
  if (!scale.value) {
    ThrowShape(context, "modulation takes a scale", x.shape(), "give a scale [N, D]");
  }
}

}  // namespace

namespace {

// What the backward pass of Modulate keeps: x only where the scale wants a gradient.
struct ModulateKept {
  Tensor x;
  Var scale;
  int x_slot, shift_slot;
};

void ModulateBackward(Context& context, const ModulateKept& kept, Tensor dy) {
  const Shape part = {dy.shape()[0], dy.shape().back()};
  const Tensor& scale = kept.scale.value;
  const Tensor dshift = PlaceOf(context, kept.shift_slot, part, dy.dtype());
  const Tensor dscale = PlaceOf(context, kept.scale.slot, part, dy.dtype());
  const bool multiplied = kept.x_slot != Var::kNoGradient && scale;
  const Tensor dx = multiplied ? ReuseOrAllocate(context, dy) : Tensor();
  if (dshift || dscale || dx) {
    context.Launch({.kind = OperationKind::kElementwise,
                    .bytes = BytesOf(dy, kept.x, scale, dx, dshift, dscale),
                    .scratch_bytes = context.planning_backend().modulation().ModulateScratch(dy)},
                   [&](Backend& backend, void* scratch) {
                     backend.modulation().ModulateBackward(dy, kept.x, scale, dx, dshift, dscale,
                                                           scratch);
                   });
  }
  GiveTo(context, kept.shift_slot, dshift);
  GiveTo(context, kept.scale.slot, dscale);
  context.Accumulate(kept.x_slot, multiplied ? dx : std::move(dy));
}

}  // namespace

Var Modulate(Context& context, const Var& x, const Var& shift_given, const Var& scale_given) {
  CheckSamples(context, x);
  if (!shift_given.value && !scale_given.value) return x;
  const Var shift = PartOf(context, x, shift_given, "shift");
  const Var scale = PartOf(context, x, scale_given, "scale");
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch(
      {.kind = OperationKind::kElementwise,
       .bytes = BytesOf(x.value, shift.value, scale.value, y),
       .scratch_bytes = context.planning_backend().modulation().ModulateScratch(x.value)},
      [&](Backend& backend, void* scratch) {
        backend.modulation().Modulate(x.value, shift.value, scale.value, y, scratch);
      });
  const bool differentiable =
      x.needs_gradient() || shift.needs_gradient() || scale.needs_gradient();
  const ModulateKept kept = {scale.needs_gradient() ? x.value : Tensor(), scale, x.slot,
                             shift.slot};
  return context.Record(y, differentiable, [kept](Context& ctx, Tensor dy) {
    ModulateBackward(ctx, kept, std::move(dy));
  });
}

namespace {

// What the backward pass of a modulated layer norm keeps.
struct LayerKept {
  Var x;
  Var scale;
  int shift_slot;
  Tensor mean, rstd;
  NormParameters parameters;
};

void LayerBackward(Context& context, const LayerKept& kept, const Tensor& dy) {
  const Var& x = kept.x;
  const auto [weight, bias] = kept.parameters;
  const AffineTensors values = ValuesOf(context, weight, bias);
  const AffineTensors sums = GradientsOf(context, weight, bias);
  const Shape part = kept.scale.shape();
  const LayerParts parts = {values.weight, values.bias, {}, kept.scale.value};
  const LayerGradients gradients = {
      .x = PlaceOf(context, x.slot, x.shape(), x.dtype()),
      .weight = sums.weight,
      .bias = sums.bias,
      .shift = PlaceOf(context, kept.shift_slot, part, x.dtype()),
      .scale = PlaceOf(context, kept.scale.slot, part, x.dtype()),
      .accumulate = sums.accumulate,
  };
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(dy, x.value, values.weight, values.bias, kept.scale.value,
                                   gradients.x, gradients.shift, gradients.scale) +
                           BytesOfGradients(sums),
                  .scratch_bytes = context.planning_backend().modulation().LayerScratch(x.value)},
                 [&](Backend& backend, void* scratch) {
                   backend.modulation().LayerBackward(dy, x.value, kept.mean, kept.rstd, parts,
                                                      gradients, scratch);
                 });
  GiveTo(context, kept.shift_slot, gradients.shift);
  GiveTo(context, kept.scale.slot, gradients.scale);
  GiveTo(context, x.slot, gradients.x);
}

}  // namespace

Var ModulatedLayerNorm(Context& context, const Var& x, NormParameters parameters, double epsilon,
                       const Var& shift_given, const Var& scale_given) {
  CheckSamples(context, x);
  RequireScale(context, x, scale_given);
  const Parameter* weight = parameters.weight;
  if (weight != nullptr && x.shape().back() != weight->shape[0]) {
    ThrowShape(context, "layer norm takes " + std::to_string(weight->shape[0]) + " features",
               x.shape(), "change the layer's size");
  }
  const Var shift = PartOf(context, x, shift_given, "shift");
  const Var scale = PartOf(context, x, scale_given, "scale");
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  const DType exact = ExactType(x.dtype());
  const Tensor mean = context.Allocate({x.shape().RowCount()}, exact);
  const Tensor rstd = context.Allocate({x.shape().RowCount()}, exact);
  const AffineTensors p = ValuesOf(context, weight, parameters.bias);
  context.Launch(
      {.kind = OperationKind::kNorm,
       .bytes = BytesOf(x.value, p.weight, p.bias, shift.value, scale.value, y, mean, rstd),
       .scratch_bytes = context.planning_backend().modulation().LayerScratch(x.value)},
      [&](Backend& backend, void* scratch) {
        backend.modulation().LayerForward(x.value, {p.weight, p.bias, shift.value, scale.value},
                                          epsilon, y, mean, rstd, scratch);
      });
  const bool differentiable = IsDifferentiable(x, weight, parameters.bias) ||
                              shift.needs_gradient() || scale.needs_gradient();
  return context.Record(y, differentiable,
                        [kept = LayerKept{x, scale, shift.slot, mean, rstd, parameters}](
                            Context& ctx, Tensor dy) { LayerBackward(ctx, kept, dy); });
}

Var GatedAdd(Context& context, const Var& x, const Var& gate_given, const Var& residual) {
  CheckSamples(context, x);
  if (!gate_given.value || !(residual.value && residual.shape() == x.shape())) {
    ThrowShape(context,
               "a gated sum takes a gate [N, D] and a residual of x's shape " + ToString(x.shape()),
               residual.value ? residual.shape() : Shape{}, "make both branches end alike");
  }
  const Var gate = PartOf(context, x, gate_given, "gate");
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch(
      {.kind = OperationKind::kElementwise,
       .bytes = BytesOf(x.value, gate.value, residual.value, y),
       .scratch_bytes = context.planning_backend().modulation().GatedAddScratch(x.value)},
      [&](Backend& backend, void* scratch) {
        backend.modulation().GatedAdd(x.value, gate.value, residual.value, y, scratch);
      });
  const bool differentiable =
      x.needs_gradient() || gate.needs_gradient() || residual.needs_gradient();
  return context.Record(
      y, differentiable, [x, gate, residual_slot = residual.slot](Context& ctx, Tensor dy) {
        const Tensor dgate = PlaceOf(ctx, gate.slot, gate.shape(), x.dtype());
        const Tensor dx = PlaceOf(ctx, x.slot, x.shape(), x.dtype());
        ctx.Launch({.kind = OperationKind::kElementwise,
                    .bytes = BytesOf(dy, x.value, gate.value, dx, dgate),
                    .scratch_bytes = ctx.planning_backend().modulation().GatedAddScratch(x.value)},
                   [&](Backend& backend, void* scratch) {
                     backend.modulation().GatedAddBackward(dy, x.value, gate.value, dx, dgate,
                                                           scratch);
                   });
        GiveTo(ctx, gate.slot, dgate);
        GiveTo(ctx, x.slot, dx);
        ctx.Accumulate(residual_slot, std::move(dy));
      });
}

}  // namespace frugal
