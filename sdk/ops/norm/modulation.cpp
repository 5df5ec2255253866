#include "sdk/ops/norm/modulation.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

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

Tensor Modulated(Context& context, const Tensor& x, const Tensor& shift, const Tensor& scale) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({.kind = OperationKind::kElementwise,
                  .bytes = BytesOf(x, shift, scale, y),
                  .scratch_bytes = context.backend().modulation().ModulateScratch(x)},
                 [&](Backend& backend, void* scratch) {
                   backend.modulation().Modulate(x, shift, scale, y, scratch);
                 });
  return y;
}

// Holds what the backward pass of Modulate keeps: x only where the scale wants a gradient.
struct ModulateKept {
  SavedTensor x;
  Var scale;
  int x_slot, shift_slot;
};

void ModulateBackward(Context& context, const ModulateKept& kept, Tensor dy) {
  const Tensor x = kept.x.Get(context);
  const Shape part = {dy.shape()[0], dy.shape().back()};
  const Tensor& scale = kept.scale.value;
  const Tensor dshift = PlaceOf(context, kept.shift_slot, part, dy.dtype());
  const Tensor dscale = PlaceOf(context, kept.scale.slot, part, dy.dtype());
  const bool multiplied = kept.x_slot != Var::kNoGradient && scale;
  const Tensor dx = multiplied ? ReuseOrAllocate(context, dy) : Tensor();
  if (dshift || dscale || dx) {
    context.Launch({.kind = OperationKind::kElementwise,
                    .bytes = BytesOf(dy, x, scale, dx, dshift, dscale),
                    .scratch_bytes = context.backend().modulation().ModulateScratch(dy)},
                   [&](Backend& backend, void* scratch) {
                     backend.modulation().ModulateBackward(dy, x, scale, dx, dshift, dscale,
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
  const Tensor y = Modulated(context, x.value, shift.value, scale.value);
  const bool differentiable =
      x.needs_gradient() || shift.needs_gradient() || scale.needs_gradient();
  const ModulateKept kept = {scale.needs_gradient() ? SavedTensor(context, x) : SavedTensor(),
                             scale, x.slot, shift.slot};
  const Var result = context.Record(y, differentiable, [kept](Context& ctx, Tensor dy) {
    ModulateBackward(ctx, kept, std::move(dy));
  });
  // Without a scale to train, x is kept for nothing else.
  if (!scale.needs_gradient() && !x.remat) return result;
  return RematerializedFrom(
      context, x, result,
      [shift = shift.value, scale = scale.value](Context& ctx, const Tensor& again) {
        return Modulated(ctx, again, shift, scale);
      });
}

namespace {

// A modulated layer norm but for what it norms.
struct LayerCall {
  Var shift, scale;
  NormParameters parameters;
  double epsilon;
  Tensor mean, rstd;
};

Tensor Normalized(Context& context, const Tensor& x, const LayerCall& call) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  const AffineTensors p = ValuesOf(context, call.parameters.weight, call.parameters.bias);
  const LayerParts parts = {p.weight, p.bias, call.shift.value, call.scale.value};
  context.Launch(
      {.kind = OperationKind::kNorm,
       .bytes =
           BytesOf(x, parts.weight, parts.bias, parts.shift, parts.scale, y, call.mean, call.rstd),
       .scratch_bytes = context.backend().modulation().LayerScratch(x)},
      [&](Backend& backend, void* scratch) {
        backend.modulation().LayerForward(x, parts, call.epsilon, y, call.mean, call.rstd, scratch);
      });
  return y;
}

void LayerBackward(Context& context, const Tensor& x, int slot, const LayerCall& call,
                   const Tensor& dy) {
  const auto [weight, bias] = call.parameters;
  const AffineTensors values = ValuesOf(context, weight, bias);
  const AffineTensors sums = GradientsOf(context, weight, bias);
  const Shape part = call.scale.shape();
  const LayerParts parts = {values.weight, values.bias, {}, call.scale.value};
  const LayerGradients gradients = {
      .x = PlaceOf(context, slot, x.shape(), x.dtype()),
      .weight = sums.weight,
      .bias = sums.bias,
      .shift = PlaceOf(context, call.shift.slot, part, x.dtype()),
      .scale = PlaceOf(context, call.scale.slot, part, x.dtype()),
      .accumulate = sums.accumulate,
  };
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(dy, x, values.weight, values.bias, call.scale.value, gradients.x,
                                   gradients.shift, gradients.scale) +
                           BytesOfGradients(sums),
                  .scratch_bytes = context.backend().modulation().LayerScratch(x)},
                 [&](Backend& backend, void* scratch) {
                   backend.modulation().LayerBackward(dy, x, call.mean, call.rstd, parts, gradients,
                                                      scratch);
                 });
  GiveTo(context, call.shift.slot, gradients.shift);
  GiveTo(context, call.scale.slot, gradients.scale);
  GiveTo(context, slot, gradients.x);
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
  const Shape per_row = {x.shape().RowCount()};
  const DType exact = MasterType(x.dtype());
  const LayerCall call = {PartOf(context, x, shift_given, "shift"),
                          PartOf(context, x, scale_given, "scale"),
                          parameters,
                          epsilon,
                          context.Allocate(per_row, exact),
                          context.Allocate(per_row, exact)};
  const Tensor y = Normalized(context, x.value, call);
  const bool differentiable = IsDifferentiable(x, weight, parameters.bias) ||
                              call.shift.needs_gradient() || call.scale.needs_gradient();
  const Var result = context.Record(
      y, differentiable,
      [call, kept = SavedTensor(context, x), slot = x.slot](Context& ctx, const Tensor& dy) {
        LayerBackward(ctx, kept.Get(ctx), slot, call, dy);
      });
  return RematerializedFrom(context, x, result, [call](Context& ctx, const Tensor& again) {
    return Normalized(ctx, again, call);
  });
}

namespace {

Tensor GatedSum(Context& context, const Tensor& x, const Tensor& gate, const Tensor& residual) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({.kind = OperationKind::kElementwise,
                  .bytes = BytesOf(x, gate, residual, y),
                  .scratch_bytes = context.backend().modulation().GatedAddScratch(x)},
                 [&](Backend& backend, void* scratch) {
                   backend.modulation().GatedAdd(x, gate, residual, y, scratch);
                 });
  return y;
}

}  // namespace

Var GatedAdd(Context& context, const Var& x, const Var& gate_given, const Var& residual) {
  CheckSamples(context, x);
  if (!gate_given.value || !(residual.value && residual.shape() == x.shape())) {
    ThrowShape(context,
               "a gated sum takes a gate [N, D] and a residual of x's shape " + ToString(x.shape()),
               residual.value ? residual.shape() : Shape{}, "make both branches end alike");
  }
  const Var gate = PartOf(context, x, gate_given, "gate");
  const Tensor y = GatedSum(context, x.value, gate.value, residual.value);
  const bool differentiable =
      x.needs_gradient() || gate.needs_gradient() || residual.needs_gradient();
  const Var result = context.Record(
      y, differentiable, [x, gate, residual_slot = residual.slot](Context& ctx, Tensor dy) {
        const Tensor dgate = PlaceOf(ctx, gate.slot, gate.shape(), x.dtype());
        const Tensor dx = PlaceOf(ctx, x.slot, x.shape(), x.dtype());
        ctx.Launch({.kind = OperationKind::kElementwise,
                    .bytes = BytesOf(dy, x.value, gate.value, dx, dgate),
                    .scratch_bytes = ctx.backend().modulation().GatedAddScratch(x.value)},
                   [&](Backend& backend, void* scratch) {
                     backend.modulation().GatedAddBackward(dy, x.value, gate.value, dx, dgate,
                                                           scratch);
                   });
        GiveTo(ctx, gate.slot, dgate);
        GiveTo(ctx, x.slot, dx);
        ctx.Accumulate(residual_slot, std::move(dy));
      });
  return SumRematerializedFrom(
      context, residual, result,
      [x = x.value, gate = gate.value](Context& ctx, const Tensor& stream) {
        return GatedSum(ctx, x, gate, stream);
      });
}

// One sample whose features all have one gate.
Var Blend(Context& context, const Var& a, const Var& b, const Var& alpha) {
  if (!(a.shape() == b.shape()) || a.shape().rank() == 0) {
    ThrowShape(context, "a mixture takes two tensors of one shape, here " + ToString(a.shape()),
               b.shape(), "make both branches end in the same shape");
  }
  if (alpha.shape().ElementCount() != 1) {
    ThrowShape(context, "a mixture has one weight", alpha.shape(), "give alpha [1]");
  }
  const Shape sample = {1, a.shape().RowCount(), a.shape().back()};
  const Var gate = Expand(context, Reshape(context, alpha, {1, 1}), {1, a.shape().back()});
  const Var rest = Modulate(context, Reshape(context, b, sample), {}, Scale(context, gate, -1));
  return Reshape(context, GatedAdd(context, Reshape(context, a, sample), gate, rest), a.shape());
}

}  // namespace frugal
