#pragma once

#include "sdk/ops/recurrent.h"

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
// The last part of backward: the gradients of all parameters and of the input (slot) from those of
// the products with the inputs x [T, N, inputs] and with the hidden states [T + 1, N, H].
struct SequenceGradients {
  Tensor x;
  Tensor hidden;
  Tensor dfrom_input;   // [T, N, G H]
  Tensor dfrom_hidden;  // [T, N, G H]
};
void DeliverGradients(Context& context, const RecurrentShape& shape,
                      const RecurrentParameters& parameters, const SequenceGradients& gradients,
                      int slot);

}  // namespace frugal
