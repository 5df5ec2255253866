#include "sdk/module/repeat.h"
#include "sdk/ops/recurrent_sequence.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

// All in time order. The first of the T + 1 hidden and cell states is zero.
struct LstmRun {
  RecurrentShape shape;
  Tensor x;       // [T, N, inputs]
  Tensor gates;   // [T, N, 4 H], the gates' values
  Tensor hidden;  // [T + 1, N, H]
  Tensor cells;   // [T + 1, N, H]
};

LstmRun RunForward(Context& context, const Var& x, const RecurrentParameters& p) {
  LstmRun run;
  run.shape = CheckRecurrentShape(context, x, p, 4);
  const auto& [batch, steps, inputs, hidden, gates] = run.shape;
  run.x = SwapTimeAndBatch(context, x.value);
  run.gates = context.Allocate({steps, batch, gates}, run.x.dtype());
  Product(context, RowsOf(run.x), *p.weight_ih, p.bias_ih, RowsOf(run.gates));
  run.hidden = ZeroTensor(context, {steps + 1, batch, hidden});
  run.cells = ZeroTensor(context, {steps + 1, batch, hidden});
  const Tensor recurrent = context.Allocate({batch, gates}, run.x.dtype());
  const std::int64_t bytes = 3 * batch * (gates + hidden) * SizeOf(run.x.dtype());
  Repeat(context, steps, [&](std::int64_t t) {
    Product(context, StepOf(run.hidden, t), *p.weight_hh, p.bias_hh, recurrent);
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      const Tensor now = StepOf(run.gates, t);
      backend.elementwise().Add(now, recurrent, now);
      backend.sequence().LstmForward(now, StepOf(run.cells, t), StepOf(run.cells, t + 1),
                                     StepOf(run.hidden, t + 1));
    });
  });
  return run;
}

// Turns the kept gates into their gradients, last step first. They are not needed again.
void RunBackward(Context& context, const LstmRun& run, const RecurrentParameters& p,
                 const Tensor& dy) {
  const auto& [batch, steps, inputs, hidden, gates] = run.shape;
  const Tensor from_next = ZeroTensor(context, {batch, hidden});
  const Tensor dcell = ZeroTensor(context, {batch, hidden});
  const Tensor dhidden = context.Allocate({batch, hidden}, dy.dtype());
  const std::int64_t bytes = batch * (2 * gates + 6 * hidden) * SizeOf(dy.dtype());
  Repeat(context, steps, [&](std::int64_t i) {
    const std::int64_t t = run.shape.steps - 1 - i;
    const Tensor dgates = StepOf(run.gates, t);
    context.Launch({OperationKind::kRecurrent, bytes}, [&](Backend& backend, void*) {
      backend.elementwise().Add(StepOf(dy, t), from_next, dhidden);
      backend.sequence().LstmBackward(dhidden, dgates, StepOf(run.cells, t),
                                      StepOf(run.cells, t + 1), dcell, dgates);
    });
    ProductBack(context, dgates, *p.weight_hh, from_next);
  });
}

}  // namespace

Var Lstm(Context& context, const Var& x, const RecurrentParameters& p) {
  if (IsBf16(x)) return ToActivation(context, Lstm(context, CastToF32(context, x), p));
  const LstmRun run = RunForward(context, x, p);
  const Tensor y = SwapTimeAndBatch(context, run.hidden.Narrow(1, run.shape.steps));
  const bool differentiable =
      IsDifferentiable(x, p.weight_ih, p.bias_ih) || IsDifferentiable({}, p.weight_hh, p.bias_hh);
  return context.Record(y, differentiable, [=, slot = x.slot](Context& ctx, Tensor dy) {
    RunBackward(ctx, run, p, SwapTimeAndBatch(ctx, dy));
    DeliverGradients(ctx, run.shape, p, {run.x, run.hidden, run.gates, run.gates}, slot);
  });
}

}  // namespace frugal
