#pragma once

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"

namespace frugal {

// Scale and shift of a normalization; null = none.
struct NormParameters {
  const Parameter* weight = nullptr;
  const Parameter* bias = nullptr;
};

// Normalizes over the last axis of x [..., D] (Ba et al., arXiv:1607.06450). Keeps x, mean and
// 1/deviation; y is rematerialized (Var::remat) for what is behind it.
Var LayerNorm(Context& context, const Var& x, NormParameters parameters, double epsilon);

// x / sqrt(mean(x^2) + epsilon) * weight over the last axis (Zhang & Sennrich, arXiv:1910.07467).
// weight [D] or null. Keeps x and one number per row; y is rematerialized (Var::remat) for what is
// behind it.
Var RmsNorm(Context& context, const Var& x, const Parameter* weight, double epsilon);

// Normalizes over groups of channels and all positions of x [N, ..., C] (Wu & He,
// arXiv:1803.08494). Keeps x and two numbers per sample and group; y is rematerialized (Var::remat)
// for what is behind it.
Var GroupNorm(Context& context, const Var& x, NormParameters parameters, std::int64_t groups,
              double epsilon);

// Normalizes over everything but the channels of x [..., C] (Ioffe & Szegedy, arXiv:1502.03167). In
// training it uses the batch's statistics and moves the running ones by `momentum`, once per step:
// not when a checkpointed segment runs again. In evaluation it uses the running ones, which get no
// gradient, and keeps x where the weight is trained, else y where there is a relu. `relu` is fused;
// backward finds again from x, or y, where it cut. In training y is rematerialized (Var::remat) for
// what is behind it.
// With frozen statistics (Parameter::frozen) it runs as in evaluation in training too: a layer that
// is to stay as it is must not move, nor see its output depend on the rest of the batch. (PyTorch
// does the same once a frozen norm is put in eval(), and goes on moving its statistics where that
// is forgotten.)
struct BatchNormState {
  NormParameters parameters;
  const Parameter* running_mean = nullptr;
  const Parameter* running_variance = nullptr;
  double epsilon = 1e-5;
  double momentum = 0.1;
  bool relu = false;
};
Var BatchNorm(Context& context, const Var& x, const BatchNormState& state);

// Moves running statistics by what was found.
void MoveRunning(Context& context, const RunningUpdate& found);

}  // namespace frugal
