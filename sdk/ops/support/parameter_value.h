#pragma once

#include "sdk/autograd/context.h"
#include "sdk/module/parameter.h"

namespace frugal {

// A parameter as a variable in the element type of activations, for operations that take variables
// only: class tokens, position tables. Shares the parameter's storage; its gradient goes to the
// parameter.
Var ValueOf(Context& context, const Parameter& parameter);

// Does the same in the parameters' own type, for numbers that bf16 is too coarse for: frequencies,
// which positions multiply.
Var ExactValueOf(Context& context, const Parameter& parameter);

}  // namespace frugal
