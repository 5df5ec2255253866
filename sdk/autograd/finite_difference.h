#pragma once

#include <functional>
#include <vector>

#include "sdk/autograd/context.h"

namespace frugal {

// The function whose gradients are checked. It is called many times and must give the same result
// for the same values. Its output may have any shape: the check contracts it with fixed random
// weights to one number.
using CheckedFunction = std::function<Var(Context&, const std::vector<Var>& inputs)>;

// Something the function reads by itself, e.g. a parameter: where its value lies, and its gradient
// after a backward pass.
struct OutsideLeaf {
  Tensor value;
  std::function<Tensor()> gradient;
};

// The largest difference within a leaf, and the element where it is.
struct LeafError {
  // Divided by the largest gradient of the leaf, or by 1e-3 where that is more (what should be zero
  // differs by noise); infinity where no gradient arrives though there is one, or one that is not
  // finite.
  double error = 0;
  std::int64_t element = 0;
  double computed = 0;  // by backward
  double numeric = 0;   // by differences
  bool arrives = true;
};

// Compares the gradients that backward computes with central differences
//   (f(x + step) - f(x - step)) / (2 step),
// element by element. Returns what was found of each input, then of each outside leaf. Values are
// changed in place and restored.
// Throws UsageError where the context or a leaf is not kF64: in f32 differences are mostly noise.
// CheckGradients (sdk/module/gradient_check.h) does all this without a context.
std::vector<LeafError> CompareWithDifferences(Context& context, const CheckedFunction& function,
                                              const std::vector<Tensor>& inputs,
                                              const std::vector<OutsideLeaf>& outside = {},
                                              double step = 1e-5);

// Returns only the errors.
std::vector<double> FiniteDifferenceErrors(Context& context, const CheckedFunction& function,
                                           const std::vector<Tensor>& inputs,
                                           const std::vector<OutsideLeaf>& outside = {},
                                           double step = 1e-5);

}  // namespace frugal
