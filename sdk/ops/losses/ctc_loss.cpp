#include "sdk/ops/losses/ctc_loss.h"

#include <string>

#include "sdk/core/error.h"
#include "sdk/ops/losses/loss_checks.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

void Check(Context& context, const Var& logits, const Tensor& labels, const CtcOptions& options) {
  const Shape& x = logits.shape();
  if (labels.dtype() != DType::kI64 || labels.shape().rank() != 2) {
    throw UsageError({.where = "ctc",
                      .required = "targets are rows of labels, i64 [N, L]",
                      .given = "they are " + std::string(NameOf(labels.dtype())) + " " +
                               ToString(labels.shape()),
                      .advice = "give labels of shape [L] for each sample, padded at the end"});
  }
  if (x.rank() != 3 || x[0] != labels.shape()[0] || x[1] < 1) {
    ThrowShape(context,
               "ctc takes outputs [N, T, classes] for " + std::to_string(labels.shape()[0]) +
                   " rows of labels",
               x, "end the network in a row of outputs for each step");
  }
  if (options.blank < 0 || options.blank >= x[2]) {
    ThrowShape(context, "the blank " + std::to_string(options.blank) + " is one of the classes", x,
               "set blank to a class of its own, or give the network more outputs");
  }
  CheckSampleWeights(context, logits, options.sample_weights);
}

}  // namespace

Var CtcLoss(Context& context, const Var& logits, const Tensor& labels, const CtcOptions& options) {
  Check(context, logits, labels, options);
  const Var x = CastToF32(context, logits);
  const Tensor loss = context.Allocate({1}, context.master_dtype());
  const auto scratch_of = [&](bool backward) {
    return LossKernels::CtcScratchBytes(x.shape(), labels.shape(), backward);
  };
  context.Launch({.kind = OperationKind::kLoss,
                  .bytes = BytesOf(x.value, labels),
                  .scratch_bytes = scratch_of(false)},
                 [&](Backend& backend, void* scratch) {
                   backend.loss().CtcForward(x.value, labels, options, scratch, loss);
                 });
  return context.Record(loss, x.needs_gradient(),
                        [=, rows = x.value, slot = x.slot, scratch_bytes = scratch_of(true)](
                            Context& ctx, Tensor dloss) {
                          const Tensor dx = ctx.Allocate(rows.shape(), rows.dtype());
                          ctx.Launch({.kind = OperationKind::kLoss,
                                      .bytes = BytesOf(rows, labels, dx),
                                      .scratch_bytes = scratch_bytes},
                                     [&](Backend& backend, void* scratch) {
                                       backend.loss().CtcBackward(dloss, rows, labels, options,
                                                                  scratch, dx);
                                     });
                          ctx.Accumulate(slot, dx);
                        });
}

}  // namespace frugal
