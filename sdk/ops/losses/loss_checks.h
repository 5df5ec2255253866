#pragma once

#include <string>

#include "sdk/autograd/context.h"

// These check what losses ask of outputs and targets. Shapes that do not fit are a ShapeError,
// targets of another kind a UsageError.
namespace frugal {

// Labels kI64, one for each row of x [..., V].
void CheckLabels(Context& context, const std::string& loss, const Var& x, const Tensor& labels);
// Numbers in the shape of x, of at least one axis.
void CheckValues(Context& context, const std::string& loss, const Var& x, const Tensor& targets);
// One weight for each sample along x's first axis, or none.
void CheckSampleWeights(Context& context, const Var& x, const Tensor& sample_weights);

}  // namespace frugal
