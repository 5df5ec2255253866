#pragma once

#include "sdk/ops/norm.h"

// How a condition [N, D] (of a time step, a class) acts on the features of its sample: one pass
// over x each. Sources: Peebles & Xie, arXiv:2212.09748, section 3.2 (adaLN-Zero).
//
// x is [N, ..., D]; shift, scale and gate are [N, D]. A product of several of them [N, K D] is cut
// by Slice, which copies N D numbers, and whose gradients meet in one place.
namespace frugal {

// x (1 + scale) + shift; a shift without a tensor is 0. Keeps x and scale.
Var Modulate(Context& context, const Var& x, const Var& shift, const Var& scale);

// LayerNorm(x) (1 + scale) + shift in one pass. Keeps x, scale and two numbers per row.
Var ModulatedLayerNorm(Context& context, const Var& x, NormParameters parameters, double epsilon,
                       const Var& shift, const Var& scale);

// residual + gate x. Keeps x and gate.
Var GatedAdd(Context& context, const Var& x, const Var& gate, const Var& residual);

}  // namespace frugal
