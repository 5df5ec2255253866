#pragma once

#include "sdk/autograd/context.h"

// Functions of each element, of any shape, in x's type (bf16 computes in f32). Results and
// gradients, at the edges too, are PyTorch's; NaN stays NaN but where a line says otherwise.
namespace frugal {

Var Exp(Context& context, const Var& x);  // keeps its output
Var Log(Context& context, const Var& x);  // of 0 minus infinity, below NaN; keeps x
Var Sqrt(Context& context,
         const Var& x);  // below 0 NaN, of 0 with an infinite slope; keeps its output
Var Abs(Context& context, const Var& x);  // has slope 0 at 0; keeps x

// x^exponent; NaN of x < 0 where the exponent is no whole number. x^0 is 1, of NaN too, and has no
// slope. Keeps x.
Var Pow(Context& context, const Var& x, double exponent);

// x, but at least `low` and at most `high`; either may be infinite. The gradient passes where x
// lies between them or on them, and is 0 elsewhere and where x is NaN. Keeps x. Throws UsageError
// where low > high.
Var Clamp(Context& context, const Var& x, double low, double high);

// x + number. Keeps nothing.
Var AddScalar(Context& context, const Var& x, double number);

// condition is not 0 ? a : b, where extents of 1 (and missing leading extents) are repeated as in
// Arithmetic. The condition is values, labels or bytes, of any element type, and gets no gradient.
// Nothing of the element that was not chosen is in the result or in a gradient: not its NaN either.
// Keeps the condition.
Var Where(Context& context, const Var& condition, const Var& a, const Var& b);

// 1 where a > b, else 0 (as where one is NaN), repeated as in Arithmetic: a condition for Where. It
// gets no gradient.
Var Greater(Context& context, const Var& a, const Var& b);

// A variable without gradient, all of whose elements are `value`, in the type of activations.
Var Constant(Context& context, const Shape& shape, double value);

}  // namespace frugal
