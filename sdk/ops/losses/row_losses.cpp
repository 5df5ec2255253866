#include "sdk/ops/losses/row_losses.h"

#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/losses/loss_checks.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

// The loss of rows x [M, D], which are in the type of losses.
Var LossOfRows(Context& context, const RowLoss& row_loss, const Var& x, const Tensor& targets) {
  const Tensor loss = context.Allocate({1}, context.master_dtype());
  const std::int64_t bytes = BytesOf(x.value, targets);
  context.Launch({OperationKind::kLoss, bytes}, [&](Backend& backend, void*) {
    backend.loss().RowLossForward(row_loss, x.value, targets, loss);
  });
  return context.Record(
      loss, x.needs_gradient(), [=, rows = x.value, slot = x.slot](Context& ctx, Tensor dloss) {
        const Tensor dx = ctx.Allocate(rows.shape(), rows.dtype());
        ctx.Launch({OperationKind::kLoss, bytes + BytesOf(dx)}, [&](Backend& backend, void*) {
          backend.loss().RowLossBackward(row_loss, dloss, rows, targets, dx);
        });
        ctx.Accumulate(slot, dx);
      });
}

Var LossOf(Context& context, RowLoss row_loss, const Var& x, const Tensor& targets,
           const Shape& rows, const Tensor& sample_weights) {
  CheckSampleWeights(context, x, sample_weights);
  row_loss.sample_weights = sample_weights;
  const Var wide = CastToF32(context, x);
  const Var flat = wide.shape() == rows ? wide : Reshape(context, wide, rows);
  return LossOfRows(context, row_loss, flat, targets);
}

double CountOf(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

Var HingeLoss(Context& context, const Var& x, const Tensor& labels, double margin,
              const Tensor& sample_weights) {
  CheckLabels(context, "the hinge loss", x, labels);
  return LossOf(context,
                {.kind = RowLossKind::kHinge, .margin = margin, .divisor = CountOf(labels.size())},
                x, labels, x.shape(), sample_weights);
}

Var KlDivergence(Context& context, const Var& x, const Tensor& targets,
                 const Tensor& sample_weights) {
  CheckValues(context, "the divergence", x, targets);
  return LossOf(context, {.kind = RowLossKind::kKlDivergence, .divisor = CountOf(x.shape()[0])}, x,
                targets, x.shape(), sample_weights);
}

Var CosineLoss(Context& context, const Var& x, const Tensor& targets,
               const Tensor& sample_weights) {
  CheckValues(context, "the cosine loss", x, targets);
  return LossOf(context, {.kind = RowLossKind::kCosine, .divisor = CountOf(x.shape().RowCount())},
                x, targets, x.shape(), sample_weights);
}

Var TripletLoss(Context& context, const Var& x, double margin, const Tensor& sample_weights) {
  if (x.shape().rank() != 3 || x.shape()[1] != 3) {
    ThrowShape(context, "a triplet loss takes [N, 3, D]: anchor, like and unlike of each sample",
               x.shape(), "let a sample have three rows, e.g. inputs of shape [3, features]");
  }
  const std::int64_t samples = x.shape()[0];
  return LossOf(context,
                {.kind = RowLossKind::kTriplet, .margin = margin, .divisor = CountOf(samples)}, x,
                {}, {samples, 3 * x.shape()[2]}, sample_weights);
}

Var WeightedRegressionLoss(Context& context, const Var& x, const Tensor& target, Regression kind,
                           double delta, const Tensor& sample_weights) {
  CheckValues(context, "the loss", x, target);
  const std::int64_t samples = x.shape()[0];
  const Shape rows = {samples, samples == 0 ? 0 : x.shape().ElementCount() / samples};
  return LossOf(context,
                {.kind = RowLossKind::kRegression,
                 .regression = kind,
                 .delta = delta,
                 .divisor = CountOf(samples)},
                x, target.Reshape(rows), rows, sample_weights);
}

}  // namespace frugal
