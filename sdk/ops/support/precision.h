#pragma once

#include "sdk/autograd/context.h"

// Operations whose kernels know no bf16 compute in f32 between two conversions.
namespace frugal {

inline bool IsBf16(const Var& x) { return x.dtype() == DType::kBF16; }

// x in another floating type; its gradient is converted back.
Var Cast(Context& context, const Var& x, DType dtype);

// x, in f32 where it is bf16.
Var CastToF32(Context& context, const Var& x);
// x in the element type of activations.
Var ToActivation(Context& context, const Var& x);

}  // namespace frugal
