#include "sdk/module/repeat.h"
#include "sdk/ops/recurrent_sequence.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

// All in time order. The first of the T + 1 hidden states is zero.
struct GruRun {
  RecurrentShape shape;
  Tensor x;            // [T, N, inputs]
  Tensor from_input;   // [T, N, 3 H]
  Tensor from_hidden;  // [T, N, 3 H]
  Tensor hidden;       // [T + 1, N, H]
};

GruRun RunForward(Context& context, const Var& x, const RecurrentParameters& p) {
  GruRun run;
  run.shape = CheckRecurrentShape(context, x, p, 3);
  const auto& [batch, steps, inputs, hidden, gates] = run.shape;
  run.x = SwapTimeAndBatch(context, x.value);
  run.from_input = context.Allocate({steps, batch, gates}, run.x.dtype());
  run.from_hidden = context.Allocate({steps, batch, gates}, run.x.dtype());
  Product(context, RowsOf(run.x), *p.weight_ih, p.bias_ih, RowsOf(run.from_input));
  run.hidden = ZeroTensor(context, {steps + 1, batch, hidden});
  const std::int64_t bytes = 2 * batch * (gates + hidden) * SizeOf(run.x.dtype());
  Repeat(context, steps, [&](std::int64_t t) {
    Product(context, StepOf(run.hidden, t), *p.weight_hh, p.bias_hh, StepOf(run.from_hidden, t));
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      backend.sequence().GruForward(StepOf(run.from_input, t), StepOf(run.from_hidden, t),
                                    StepOf(run.hidden, t), StepOf(run.hidden, t + 1));
    });
  });
  return run;
}

// Turns both kept products into their gradients, last step first. They are not needed again.
void RunBackward(Context& context, const GruRun& run, const RecurrentParameters& p,
                 const Tensor& dy) {
  const auto& [batch, steps, inputs, hidden, gates] = run.shape;
  const Tensor from_next = ZeroTensor(context, {batch, hidden});
  const Tensor direct = context.Allocate({batch, hidden}, dy.dtype());
  const Tensor dhidden = context.Allocate({batch, hidden}, dy.dtype());
  const std::int64_t bytes = batch * (4 * gates + 5 * hidden) * SizeOf(dy.dtype());
  Repeat(context, steps, [&](std::int64_t i) {
    const std::int64_t t = run.shape.steps - 1 - i;
    const Tensor dfrom_hidden = StepOf(run.from_hidden, t);
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      backend.elementwise().Add(StepOf(dy, t), from_next, dhidden);
      backend.sequence().GruBackward(dhidden, StepOf(run.from_input, t), dfrom_hidden,
                                     StepOf(run.hidden, t), direct);
    });
    ProductBack(context, dfrom_hidden, *p.weight_hh, from_next);
    context.Launch(
        {OperationKind::kElementwise, BytesOf(from_next, direct, from_next)},
        [&](Backend& backend, void*) { backend.elementwise().Add(from_next, direct, from_next); });
  });
}

}  // namespace

Var Gru(Context& context, const Var& x, const RecurrentParameters& p) {
  if (IsBf16(x)) return ToActivation(context, Gru(context, CastToF32(context, x), p));
  const GruRun run = RunForward(context, x, p);
  const Tensor y = SwapTimeAndBatch(context, run.hidden.Narrow(1, run.shape.steps));
  const bool differentiable =
      IsDifferentiable(x, p.weight_ih, p.bias_ih) || IsDifferentiable({}, p.weight_hh, p.bias_hh);
  return context.Record(y, differentiable, [=, slot = x.slot](Context& ctx, Tensor dy) {
    RunBackward(ctx, run, p, SwapTimeAndBatch(ctx, dy));
    DeliverGradients(ctx, run.shape, p, {run.x, run.hidden, run.from_input, run.from_hidden}, slot);
  });
}

}  // namespace frugal
