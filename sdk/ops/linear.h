#pragma once

#include "sdk/module/parameter.h"
#include "sdk/ops/activation.h"

namespace frugal {

struct LinearOptions {
  ActivationFunction activation = {};
  WeightLayout layout = WeightLayout::kOutIn;
};

// y [..., N] = f(x [..., K] weight^T + bias + residual): weight [N, K], or [K, N] with kInOut; bias
// [N] or null; residual of y's shape, or none where it holds no tensor, and then f is the identity
// (else a UsageError). Bias, residual and activation are part of the product where the backend
// fuses them. Keeps x where weight or bias is trained (where it can be made again, only how), and
// for f what f keeps; nothing of the residual, which gets y's gradient.
Var Linear(Context& context, const Var& x, const Parameter& weight, const Parameter* bias,
           const LinearOptions& options = {}, const Var& residual = {});

}  // namespace frugal
