#pragma once

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"

namespace frugal {

// Weights of a recurrent layer under PyTorch's names and layouts: G = 4 gates for an LSTM (input,
// forget, cell, output), 3 for a GRU (reset, update, new), H hidden features.
struct RecurrentParameters {
  const Parameter* weight_ih = nullptr;  // [G H, inputs]
  const Parameter* weight_hh = nullptr;  // [G H, H]
  const Parameter* bias_ih = nullptr;    // [G H] or null
  const Parameter* bias_hh = nullptr;    // [G H] or null
};

// x [N, T, inputs] -> hidden states [N, T, H], from zero states (Hochreiter & Schmidhuber 1997).
// Keeps the gates and cells of every step.
Var Lstm(Context& context, const Var& x, const RecurrentParameters& parameters);

// x [N, T, inputs] -> hidden states [N, T, H], from a zero state (Cho et al., arXiv:1406.1078, with
// the reset gate behind the product, as in PyTorch).
Var Gru(Context& context, const Var& x, const RecurrentParameters& parameters);

}  // namespace frugal
