#pragma once

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"

namespace frugal {

// Values, or gradient places, of an operation's weight and bias; empty where it has none or, for
// gradients, where it is frozen.
struct AffineTensors {
  Tensor weight;
  Tensor bias;
  bool accumulate = false;  // of gradients: add to what is there
};

// Returns the bytes that a kernel moves that writes these gradients, or reads them and adds to
// them.
inline std::int64_t BytesOfGradients(const AffineTensors& gradients) {
  return (gradients.accumulate ? 2 : 1) * BytesOf(gradients.weight, gradients.bias);
}

AffineTensors ValuesOf(Context& context, const Parameter* weight, const Parameter* bias);
AffineTensors GradientsOf(Context& context, const Parameter* weight, const Parameter* bias);

// Returns true where anything before or in the operation wants a gradient.
bool IsDifferentiable(const Var& x, const Parameter* weight, const Parameter* bias);

}  // namespace frugal
