#include "sdk/autograd/saved_tensor.h"
#include "sdk/module/parameter_store.h"
#include "sdk/ops/norm/norm.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

bool UsesBatch(const Context& context, const BatchNormState& state) {
  const bool frozen = state.running_mean->frozen || state.running_variance->frozen;
  return context.training() && !frozen;
}

void CheckInput(Context& context, const Shape& x, const BatchNormState& state) {
  const std::int64_t channels = state.running_mean->shape[0];
  if (x.rank() < 2 || x.back() != channels) {
    ThrowShape(context, "batch norm takes " + std::to_string(channels) + " channels", x,
               "change the layer's size");
  }
  if (UsesBatch(context, state) && x.RowCount() < 2) {
    ThrowShape(context, "batch norm needs at least two values per channel in training", x,
               "use a larger batch, or layer or group norm");
  }
}

// Holds what evaluation keeps: x where the weight is trained, which tells where the relu cut, too;
// else y where there is a relu.
struct Evaluated {
  int slot;
  SavedTensor x;
  Tensor y;
};

void EvaluateBackward(Context& context, const Evaluated& kept, const BatchNormState& state,
                      const Tensor& dy) {
  const Tensor x = kept.x.Get(context);
  ParameterStore& store = context.parameters();
  const AffineTensors p = ValuesOf(context, state.parameters.weight, state.parameters.bias);
  const AffineTensors d = GradientsOf(context, state.parameters.weight, state.parameters.bias);
  const Tensor mean = store.Value(*state.running_mean);
  const Tensor variance = store.Value(*state.running_variance);
  const Tensor dx =
      kept.slot == Var::kNoGradient ? Tensor() : context.Allocate(dy.shape(), dy.dtype());
  context.Launch(
      {.kind = OperationKind::kNorm,
       .bytes = BytesOf(dy, x, kept.y, p.weight, p.bias, mean, variance, dx) + BytesOfGradients(d),
       .scratch_bytes = context.backend().norm().BatchScratch(dy)},
      [&](Backend& backend, void* scratch) {
        backend.norm().BatchInferenceBackward(dy, x, kept.y, mean, variance, p.weight, p.bias,
                                              state.epsilon, state.relu, dx, d.weight, d.bias,
                                              d.accumulate, scratch);
      });
  if (dx) context.Accumulate(kept.slot, dx);
}

Var Evaluate(Context& context, const Var& x, const BatchNormState& state) {
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  const AffineTensors p = ValuesOf(context, state.parameters.weight, state.parameters.bias);
  const Tensor mean = context.parameters().Value(*state.running_mean);
  const Tensor variance = context.parameters().Value(*state.running_variance);
  context.Launch({OperationKind::kNorm, BytesOf(x.value, p.weight, p.bias, mean, variance, y)},
                 [&](Backend& backend, void*) {
                   backend.norm().BatchInference(x.value, p.weight, p.bias, mean, variance,
                                                 state.epsilon, state.relu, y);
                 });
  const NormParameters& affine = state.parameters;
  const bool trains_weight = IsDifferentiable({}, affine.weight, nullptr);
  const Evaluated kept{x.slot, trains_weight ? SavedTensor(context, x) : SavedTensor(),
                       state.relu && !trains_weight ? y : Tensor()};
  return context.Record(
      y, IsDifferentiable(x, affine.weight, affine.bias),
      [=](Context& ctx, const Tensor& dy) { EvaluateBackward(ctx, kept, state, dy); });
}

void MoveOrLeave(Context& context, const BatchNormState& state, const Tensor& mean,
                 const Tensor& rstd, std::int64_t rows) {
  if (context.recomputing()) return;
  const RunningUpdate found = {.running_mean = state.running_mean,
                               .running_variance = state.running_variance,
                               .epsilon = state.epsilon,
                               .momentum = state.momentum,
                               .mean = mean,
                               .rstd = rstd,
                               .rows = rows,
                               .micro_batch = context.micro_batch()};
  if (context.running_updates() == nullptr) return MoveRunning(context, found);
  context.running_updates()->push_back(found);
}

// Holds what a forward pass over a batch found, from which its output is rematerialized.
struct Statistics {
  Tensor mean, rstd;
};

Tensor NormalizeAgain(Context& context, const Tensor& x, const Statistics& found,
                      const BatchNormState& state) {
  Tensor y = context.Allocate(x.shape(), x.dtype());
  const AffineTensors p = ValuesOf(context, state.parameters.weight, state.parameters.bias);
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(x, p.weight, p.bias, found.mean, found.rstd, y),
                  .scratch_bytes = context.backend().norm().BatchScratch(x)},
                 [&](Backend& backend, void* scratch) {
                   backend.norm().BatchNormalize(x, p.weight, p.bias, found.mean, found.rstd,
                                                 state.relu, y, scratch);
                 });
  return y;
}

void Backward(Context& context, const Tensor& x, int slot, const Statistics& found,
              const BatchNormState& state, const Tensor& dy) {
  const AffineTensors p = ValuesOf(context, state.parameters.weight, state.parameters.bias);
  const AffineTensors d = GradientsOf(context, state.parameters.weight, state.parameters.bias);
  const Tensor dx = context.Allocate(x.shape(), x.dtype());
  context.Launch(
      {.kind = OperationKind::kNorm,
       .bytes = BytesOf(dy, x, found.mean, found.rstd, p.weight, p.bias, dx) + BytesOfGradients(d),
       .scratch_bytes = context.backend().norm().BatchScratch(x)},
      [&](Backend& backend, void* scratch) {
        backend.norm().BatchBackward(dy, x, found.mean, found.rstd, p.weight, p.bias, state.relu,
                                     dx, d.weight, d.bias, d.accumulate, scratch);
      });
  context.Accumulate(slot, dx);
}

}  // namespace

void MoveRunning(Context& context, const RunningUpdate& found) {
  const Tensor mean = context.parameters().Value(*found.running_mean);
  const Tensor variance = context.parameters().Value(*found.running_variance);
  context.Launch(
      {OperationKind::kNorm, BytesOf(found.mean, found.rstd) + 2 * BytesOf(mean, variance)},
      [&](Backend& backend, void*) {
        backend.norm().UpdateRunning(found.mean, found.rstd, found.epsilon, found.momentum,
                                     found.rows, mean, variance);
      });
}

Var BatchNorm(Context& context, const Var& x, const BatchNormState& state) {
  if (IsBf16(x) && !context.backend().norm().TakesBf16(x.shape().back())) {
    return ToActivation(context, BatchNorm(context, CastToF32(context, x), state));
  }
  CheckInput(context, x.shape(), state);
  if (!UsesBatch(context, state)) return Evaluate(context, x, state);
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  const Tensor mean = context.Allocate({x.shape().back()}, context.master_dtype());
  const Tensor rstd = context.Allocate({x.shape().back()}, context.master_dtype());
  const AffineTensors p = ValuesOf(context, state.parameters.weight, state.parameters.bias);
  context.Launch({.kind = OperationKind::kNorm,
                  .bytes = BytesOf(x.value, p.weight, p.bias, y, mean, rstd),
                  .scratch_bytes = context.backend().norm().BatchScratch(x.value)},
                 [&](Backend& backend, void* scratch) {
                   backend.norm().BatchForward(x.value, p.weight, p.bias, state.epsilon, state.relu,
                                               y, mean, rstd, scratch);
                 });
  MoveOrLeave(context, state, mean, rstd, x.shape().RowCount());
  const Statistics found{mean, rstd};
  const Var result =
      context.Record(y, IsDifferentiable(x, state.parameters.weight, state.parameters.bias),
                     [found, state, kept = SavedTensor(context, x), slot = x.slot](
                         Context& ctx, const Tensor& dy) {
                       Backward(ctx, kept.Get(ctx), slot, found, state, dy);
                     });
  return RematerializedFrom(context, x, result, [found, state](Context& ctx, const Tensor& again) {
    return NormalizeAgain(ctx, again, found, state);
  });
}

}  // namespace frugal
