#pragma once

#include "sdk/autograd/context.h"
#include "sdk/backend/sequence_kernels.h"

namespace frugal {

// f(first half) * second half of the last axis, [..., 2F] -> [..., F] (Shazeer, arXiv:2002.05202);
// `gate_last` takes the second half through f instead. Keeps x, and y is rematerialized.
Var Gated(Context& context, const Var& x, Activation f, bool gate_last = false);

}  // namespace frugal
