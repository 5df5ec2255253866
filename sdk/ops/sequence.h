#pragma once

#include "sdk/autograd/context.h"
#include "sdk/backend/sequence_kernels.h"
#include "sdk/module/parameter.h"

namespace frugal {

// x / sqrt(mean(x^2) + epsilon) * weight over the last axis (Zhang & Sennrich, arXiv:1910.07467).
// weight [D] or null. Keeps x and one number per row; y is made again (Var::remake) for what is
// behind it.
Var RmsNorm(Context& context, const Var& x, const Parameter* weight, double epsilon);

// f(first half) * second half of the last axis, [..., 2F] -> [..., F] (Shazeer, arXiv:2002.05202);
// `gate_last` takes the second half through f instead. Keeps x, and y is made again.
Var Gated(Context& context, const Var& x, Activation f, bool gate_last = false);

// Turns heads in x [B, T, row] by the angles whose cosines and sines [T, rotary_size / 2] are
// given. Keeps the angles.
Var Rotate(Context& context, const Var& x, const RotaryGeometry& geometry, const Tensor& cosine,
           const Tensor& sine);

}  // namespace frugal
