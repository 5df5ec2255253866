#pragma once

#include "sdk/ops/recurrent.h"
#include "sdk/ops/support/affine_parameters.h"
#include "sdk/ops/support/precision.h"

namespace frugal {

// LSTM and GRU share these: the sequence in time order, so that each step is one contiguous piece,
// and the products that take all steps at once. T steps, N samples, G H gate features.
struct RecurrentShape {
  std::int64_t batch = 0;
  std::int64_t steps = 0;
  std::int64_t inputs = 0;
  std::int64_t hidden = 0;
  std::int64_t gates = 0;  // G * hidden
};
RecurrentShape CheckRecurrentShape(Context& context, const Var& x,
                                   const RecurrentParameters& parameters, std::int64_t gate_count);

// Step t of a sequence [T, N, F] as [N, F]; all steps together as [T * N, F].
Tensor StepOf(const Tensor& sequence, std::int64_t t);
Tensor RowsOf(const Tensor& sequence);

// [N, T, F] <-> [T, N, F]
Tensor SwapTimeAndBatch(Context& context, const Tensor& x);

Tensor ZeroTensor(Context& context, const Shape& shape);

// y [M, N] = x [M, K] weight^T + bias
void Product(Context& context, const Tensor& x, const Parameter& weight, const Parameter* bias,
             const Tensor& y);
// dx [M, K] = dy [M, N] weight
void ProductBack(Context& context, const Tensor& dy, const Parameter& weight, const Tensor& dx);

// Holds what forward keeps of a sequence, all in time order. Backward turns both products into
// their gradients.
struct RecurrentRun {
  RecurrentShape shape;
  Tensor x;            // [T, N, inputs]
  Tensor from_input;   // [T, N, G H], the products with the inputs
  Tensor from_hidden;  // [T, N, G H], those with the hidden states, where they are kept apart
  Tensor hidden;       // [T + 1, N, H], of which the first is zero
};
// Computes the products with all inputs. Where `keeps_apart` is false, from_hidden is from_input.
RecurrentRun BeginRun(Context& context, const Var& x, const RecurrentParameters& parameters,
                      std::int64_t gate_count, bool keeps_apart);

// The last part of backward: the gradients of all parameters and of the input (slot) from those of
// the products.
void DeliverGradients(Context& context, const RecurrentRun& run,
                      const RecurrentParameters& parameters, int slot);

// Runs a layer over a sequence. `Run` is a RecurrentRun with kGateCount, kKeepsApart, Forward and
// Backward, which go over the steps.
template <class Run>
Var RunSequence(Context& context, const Var& x, const RecurrentParameters& p) {
  if (IsBf16(x)) return ToActivation(context, RunSequence<Run>(context, CastToF32(context, x), p));
  Run run{BeginRun(context, x, p, Run::kGateCount, Run::kKeepsApart)};
  run.Forward(context, p);
  const Tensor y = SwapTimeAndBatch(context, run.hidden.Narrow(1, run.shape.steps));
  const bool differentiable =
      IsDifferentiable(x, p.weight_ih, p.bias_ih) || IsDifferentiable({}, p.weight_hh, p.bias_hh);
  return context.Record(y, differentiable, [=, slot = x.slot](Context& ctx, Tensor dy) {
    run.Backward(ctx, p, SwapTimeAndBatch(ctx, dy));
    DeliverGradients(ctx, run, p, slot);
  });
}

}  // namespace frugal
