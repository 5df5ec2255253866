#pragma once

#include "sdk/autograd/context.h"

namespace frugal {

// An elementwise function with its own parameter (see sdk/backend/activation.h).
struct ActivationFunction {
  Activation kind = Activation::kIdentity;
  double parameter = 0;

  ActivationFunction() = default;
  ActivationFunction(Activation activation)  // NOLINT(google-explicit-constructor): a plain name
      : kind(activation), parameter(DefaultParameter(activation)) {}
  ActivationFunction(Activation activation, double value) : kind(activation), parameter(value) {}
};

// y = f(x), any shape. Keeps y where the derivative follows from it, else x; then, or where x is
// made again itself, y can be made again (Var::remat) and what is behind it keeps nothing.
Var Activate(Context& context, const Var& x, ActivationFunction function);

// The gradient before the function, from the one behind it and what was kept of it. Works in place
// where nobody else reads dy. Identity returns dy.
Tensor ActivationGradient(Context& context, ActivationFunction function, Tensor dy,
                          const Tensor& kept);

}  // namespace frugal
