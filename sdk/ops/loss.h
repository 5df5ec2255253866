#pragma once

#include "sdk/autograd/context.h"

namespace frugal {

// A scalar [1]: the mean over rows whose target counts. logits [..., V], targets kI64 of the
// leading shape. Keeps logits, targets and one number per row.
Var CrossEntropy(Context& context, const Var& logits, const Tensor& targets,
                 LossKernels::CrossEntropyOptions options = {});

// A scalar [1]: the mean of an elementwise distance between x and target, of one shape. Keeps both.
Var RegressionLoss(Context& context, const Var& x, const Var& target, Regression kind,
                   double delta = 1.0);
Var RegressionLoss(Context& context, const Var& x, const Tensor& target, Regression kind,
                   double delta = 1.0);

// The softmax is taken along the last axis. Keeps its output.
Var Softmax(Context& context, const Var& x);
Var LogSoftmax(Context& context, const Var& x);

}  // namespace frugal
