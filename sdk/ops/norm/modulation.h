#pragma once

#include "sdk/ops/norm/norm.h"

// How a condition [N, D] (of a time step, a class) acts on the features of its sample: one pass
// over x each. Sources: Peebles & Xie, arXiv:2212.09748, section 3.2 (adaLN-Zero).
//
// x is [N, ..., D]; shift, scale and gate are [N, D]. A product of several of them [N, K D] is cut
// by Slice, which copies N D numbers, and whose gradients meet in one place.
namespace frugal {

// x (1 + scale) + shift; a shift or a scale without a tensor is 0. Keeps scale, and x where the
// scale wants a gradient, from which y is rematerialized then: x + shift, as in residual blocks of
// U-Nets, keeps nothing.
Var Modulate(Context& context, const Var& x, const Var& shift, const Var& scale);

// LayerNorm(x) (1 + scale) + shift in one pass. Keeps x, scale, shift and two numbers per row; y is
// made again (Var::remat) for what is behind it.
Var ModulatedLayerNorm(Context& context, const Var& x, NormParameters parameters, double epsilon,
                       const Var& shift, const Var& scale);

// residual + gate x. Keeps x and gate; along a residual stream three sums of four are
// rematerialized from these and the sum before.
Var GatedAdd(Context& context, const Var& x, const Var& gate, const Var& residual);

// alpha a + (1 - alpha) b, alpha [1]: the learned mixture of a spatial and a temporal branch
// (Blattmann et al., arXiv:2304.08818, section 3.1; of a logit, Activate with kSigmoid first).
// Keeps a, b and alpha.
Var Blend(Context& context, const Var& a, const Var& b, const Var& alpha);

}  // namespace frugal
