#include "sdk/ops/linear.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/core/error.h"
#include "sdk/module/parameter_store.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/product_launch.h"

namespace frugal {
namespace {

struct LinearCall {
  Shape shape;  // of x
  DType dtype;
  int slot;
  const Parameter* weight;
  const Parameter* bias;
  WeightLayout layout;

  std::int64_t inputs() const { return weight->shape[layout == WeightLayout::kOutIn ? 1 : 0]; }
  std::int64_t outputs() const { return weight->shape[layout == WeightLayout::kOutIn ? 0 : 1]; }
};

Tensor Forward(Context& context, const LinearCall& call, const Tensor& x, const Tensor& residual,
               LinearEpilogue epilogue) {
  Shape shape = call.shape;
  shape[shape.rank() - 1] = call.outputs();
  const Tensor y = context.AllocateResult(shape, call.dtype);
  const LinearWeight weight =
      context.parameters().WeightOf(*call.weight, call.layout, call.dtype, context.backend());
  const Tensor bias = ValuesOf(context, nullptr, call.bias).bias;
  LaunchLinearForward(context, x, weight, bias, residual, y, epilogue);
  return y;
}

void AddWeightGradient(Context& context, const LinearCall& call, const Tensor& x,
                       const Tensor& dy) {
  AffineTensors d = GradientsOf(context, call.weight, call.bias);
  // A trained bias beside a frozen weight: the kernel still wants a place for the latter's.
  if (!d.weight) {
    d.weight = context.Allocate(call.weight->shape, context.master_dtype(), MemoryTag::kWorkspace);
  }
  LaunchLinearBackwardWeight(context, dy, x, d, call.layout);
}

Tensor InputGradient(Context& context, const LinearCall& call, const Tensor& dy) {
  const LinearWeight weight =
      context.parameters().WeightOf(*call.weight, call.layout, dy.dtype(), context.backend());
  const Tensor dx = context.Allocate(call.shape, call.dtype);
  LaunchLinearBackwardData(context, dy, weight, dx);
  return dx;
}

void CheckInput(Context& context, const LinearCall& call) {
  const Shape& shape = call.shape;
  if (shape.rank() >= 1 && shape.back() == call.inputs()) return;
  ThrowShape(context, "linear takes " + std::to_string(call.inputs()) + " features", shape,
             "change the layer's input size or flatten the input first");
}

void CheckResidual(Context& context, const LinearCall& call, const Tensor& residual,
                   ActivationFunction function) {
  if (!residual) return;
  Shape shape = call.shape;
  shape[shape.rank() - 1] = call.outputs();
  if (!(residual.shape() == shape)) {
    ThrowShape(context, "a sum takes two tensors of one shape, here " + ToString(shape),
               residual.shape(), "make both branches end in the same shape, e.g. with a shortcut");
  }
  if (function.kind == Activation::kIdentity) return;
  throw UsageError({.where = "linear",
                    .required = "a residual comes without an activation",
                    .given = "the activation is " + std::string(NameOf(function.kind)),
                    .advice = "apply the activation, or add the residual, as an operation"});
}

}  // namespace

Var Linear(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
           const LinearOptions& options, const Var& residual) {
  const LinearCall call{x.shape(), x.dtype(), x.slot, &weight, bias, options.layout};
  const ActivationFunction function = options.activation;
  CheckInput(context, call);
  CheckResidual(context, call, residual.value, function);
  const bool fused = context.backend().product().FusesActivation(function.kind);
  const ActivationFunction inside = fused ? function : ActivationFunction();
  const Tensor y = Forward(context, call, x.value, residual.value, {inside.kind, inside.parameter});
  const Tensor kept = inside.kind == Activation::kIdentity ? Tensor() : y;
  const bool differentiable = IsDifferentiable(x, &weight, bias) || residual.needs_gradient();
  const bool trained = IsDifferentiable({}, &weight, bias);
  const Var result = context.Record(
      y, differentiable,
      [call, inside, kept, trained, input = trained ? SavedTensor(context, x) : SavedTensor(),
       added = residual.slot](Context& ctx, Tensor dy) {
        Tensor dz = ActivationGradient(ctx, inside, std::move(dy), kept);
        if (trained) {
          ctx.RunDeferred(Deferred::kWeights, [call, x = input.Get(ctx), dz](Context& in) {
            AddWeightGradient(in, call, x, dz);
          });
        }
        if (call.slot != Var::kNoGradient) ctx.Accumulate(call.slot, InputGradient(ctx, call, dz));
        ctx.Accumulate(added, std::move(dz));
      });
  return fused ? result : Activate(context, result, function);
}

}  // namespace frugal
