#pragma once

#include "sdk/autograd/context.h"

// Losses that are a number for each row of outputs, and scalars [1] of these rows. Each keeps its
// inputs, in f32 where they are bf16. With weights [N], one for each of the N samples of x, a row's
// loss is multiplied with its sample's weight, and divided by what it is divided by anyway. Targets
// get no gradient. Shapes that do not fit are a ShapeError, targets of another kind a UsageError.
namespace frugal {

// The mean over rows of sum over j != label of max(0, margin - x[label] + x[j]) / V: PyTorch's
// MultiMarginLoss. x [..., V], labels kI64 of the leading shape; one outside [0, V) is a DataError.
Var HingeLoss(Context& context, const Var& x, const Tensor& labels, double margin = 1,
              const Tensor& sample_weights = {});

// The sum over rows of sum t (log t - log softmax(x)), divided by x's first extent: PyTorch's
// KLDivLoss(reduction = "batchmean") of log_softmax(x). x and the distributions t [N, ..., V].
Var KlDivergence(Context& context, const Var& x, const Tensor& targets,
                 const Tensor& sample_weights = {});

// The mean over rows of 1 - x t / (|x| |t|), x and t [..., D]. A row of zeros has similarity 0 and
// no gradient.
Var CosineLoss(Context& context, const Var& x, const Tensor& targets,
               const Tensor& sample_weights = {});

// The mean of max(0, |a - p| - |a - n| + margin) over samples x [N, 3, D] of anchor a, something
// like it p, and something unlike it n: PyTorch's TripletMarginLoss, with its 1e-6 added to all
// differences (Schroff et al., arXiv:1503.03832).
Var TripletLoss(Context& context, const Var& x, double margin = 1,
                const Tensor& sample_weights = {});

// RegressionLoss (loss.h) with weights of samples: the mean over samples of weight times the mean
// distance within the sample. x and target [N, ...].
Var WeightedRegressionLoss(Context& context, const Var& x, const Tensor& target, Regression kind,
                           double delta, const Tensor& sample_weights);

}  // namespace frugal
