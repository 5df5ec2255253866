#include "sdk/ops/linear.h"

#include "sdk/module/parameter_store.h"
#include "sdk/ops/affine_parameters.h"
#include "sdk/ops/check.h"

namespace frugal {
namespace {

struct LinearCall {
  Var x;
  const Parameter* weight;
  const Parameter* bias;

  double Flops() const {
    return 2.0 * static_cast<double>(x.shape().RowCount()) *
           static_cast<double>(weight->shape.ElementCount());
  }
};

Tensor Forward(Context& context, const LinearCall& call, const Tensor& y, LinearEpilogue epilogue) {
  const AffineTensors p = ValuesOf(context, call.weight, call.bias);
  ProductKernels& product = context.planning_backend().product();
  context.Launch({.flops = call.Flops(),
                  .scratch_bytes = product.LinearForwardScratch(call.x.value, p.weight)},
                 [&](Backend& backend, void* scratch) {
                   backend.product().LinearForward(call.x.value, p.weight, p.bias, {}, y, epilogue,
                                                   scratch);
                 });
  return y;
}

void AddWeightGradient(Context& context, const LinearCall& call, const Tensor& dy) {
  AffineTensors d = GradientsOf(context, call.weight, call.bias);
  // A trained bias beside a frozen weight: the kernel still wants a place for the latter's.
  if (!d.weight) {
    d.weight = context.Allocate(call.weight->shape, dy.dtype(), MemoryTag::kWorkspace);
  }
  ProductKernels& product = context.planning_backend().product();
  context.Launch(
      {.flops = call.Flops(),
       .scratch_bytes = product.LinearBackwardWeightScratch(dy, call.x.value, d.accumulate)},
      [&](Backend& backend, void* scratch) {
        backend.product().LinearBackwardWeight(dy, call.x.value, d.weight, d.bias, d.accumulate,
                                               scratch);
      });
}

Tensor InputGradient(Context& context, const LinearCall& call, const Tensor& dy) {
  const Tensor weight = context.parameters().Value(*call.weight);
  const Tensor dx = context.Allocate(call.x.shape());
  ProductKernels& product = context.planning_backend().product();
  context.Launch(
      {.flops = call.Flops(), .scratch_bytes = product.LinearBackwardDataScratch(dy, weight)},
      [&](Backend& backend, void* scratch) {
        backend.product().LinearBackwardData(dy, weight, dx, false, scratch);
      });
  return dx;
}

void CheckInput(Context& context, const Var& x, const Parameter& weight) {
  if (x.shape().rank() >= 1 && x.shape().back() == weight.shape[1]) return;
  ThrowShape(context, "linear takes " + std::to_string(weight.shape[1]) + " features", x.shape(),
             "change the layer's input size or flatten the input first");
}

}  // namespace

Var Linear(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
           ActivationFunction function) {
  CheckInput(context, x, weight);
  const bool fused = context.planning_backend().product().FusesActivation(function.kind);
  const ActivationFunction inside = fused ? function : ActivationFunction();
  const LinearCall call{x, &weight, bias};
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.shape[0];
  const Tensor y = Forward(context, call, context.Allocate(shape), {inside.kind, inside.parameter});
  const Tensor kept = inside.kind == Activation::kIdentity ? Tensor() : y;
  const bool differentiable = IsDifferentiable(x, &weight, bias);
  const Var result = context.Record(y, differentiable, [=](Context& ctx, Tensor dy) {
    const Tensor dz = ActivationGradient(ctx, inside, std::move(dy), kept);
    if (IsDifferentiable({}, call.weight, call.bias)) AddWeightGradient(ctx, call, dz);
    if (call.x.needs_gradient()) ctx.Accumulate(call.x.slot, InputGradient(ctx, call, dz));
  });
  return fused ? result : Activate(context, result, function);
}

}  // namespace frugal
