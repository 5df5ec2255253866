#include "sdk/ops/losses/loss_checks.h"

#include "sdk/core/error.h"
#include "sdk/ops/support/check.h"

namespace frugal {

void CheckLabels(Context& context, const std::string& loss, const Var& x, const Tensor& labels) {
  if (labels.dtype() != DType::kI64) {
    throw UsageError({.where = loss,
                      .required = "targets are class numbers of type i64",
                      .given = "they are " + std::string(NameOf(labels.dtype())),
                      .advice = "give labels, or use a loss for real targets"});
  }
  if (x.shape().rank() >= 1 && x.shape().RowCount() == labels.size()) return;
  ThrowShape(
      context,
      loss + " takes a row of outputs for each of the " + std::to_string(labels.size()) + " labels",
      x.shape(), "end the network in [N, classes]");
}

void CheckValues(Context& context, const std::string& loss, const Var& x, const Tensor& targets) {
  if (targets.dtype() == DType::kI64) {
    throw UsageError({.where = loss,
                      .required = "targets are numbers",
                      .given = "they are labels of type i64",
                      .advice = "use a loss for labels (cross_entropy, focal, hinge), or give "
                                "real targets"});
  }
  if (x.shape() == targets.shape() && x.shape().rank() >= 1) return;
  ThrowShape(context, loss + " compares with targets of shape " + ToString(targets.shape()),
             x.shape(), "end the network in the targets' shape, or correct the targets'");
}

void CheckSampleWeights(Context& context, const Var& x, const Tensor& sample_weights) {
  if (!sample_weights) return;
  if (x.shape().rank() >= 1 && sample_weights.shape() == Shape{x.shape()[0]} &&
      sample_weights.dtype() == context.master_dtype()) {
    return;
  }
  ThrowShape(context, "there is a weight for each sample of the outputs", sample_weights.shape(),
             "give weights [N] in the type of losses");
}

}  // namespace frugal
