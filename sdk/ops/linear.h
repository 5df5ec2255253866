#pragma once

#include "sdk/module/parameter.h"
#include "sdk/ops/activation.h"

namespace frugal {

// y [..., N] = f(x [..., K] weight^T + bias): weight [N, K], bias [N] or null. Bias and activation
// are part of the product where the backend fuses them. Keeps x, and for f what f keeps.
Var Linear(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
           ActivationFunction function = {});

}  // namespace frugal
