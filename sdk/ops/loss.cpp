#include "sdk/ops/loss.h"

#include "sdk/core/error.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

Var SoftmaxOf(Context& context, const Var& x, bool logarithm) {
  if (x.shape().rank() < 1) ThrowShape(context, "softmax takes [..., D]", x.shape(), "");
  const Tensor y = context.Allocate(x.shape(), x.dtype());
  context.Launch({OperationKind::kLoss, BytesOf(x.value, y)}, [&](Backend& backend, void*) {
    backend.loss().SoftmaxForward(x.value, logarithm, y);
  });
  return context.Record(y, x.needs_gradient(), [=, slot = x.slot](Context& ctx, Tensor dy) {
    const Tensor dx = ctx.Allocate(y.shape(), y.dtype());
    ctx.Launch({OperationKind::kLoss, BytesOf(dy, y, dx)}, [&](Backend& backend, void*) {
      backend.loss().SoftmaxBackward(dy, y, logarithm, dx);
    });
    ctx.Accumulate(slot, dx);
  });
}

}  // namespace

Var CrossEntropy(Context& context, const Var& logits, const Tensor& targets,
                 LossKernels::CrossEntropyOptions options) {
  if (logits.shape().rank() < 1 || logits.shape().RowCount() != targets.size()) {
    ThrowShape(context,
               "cross entropy takes a row of logits for each of the " +
                   std::to_string(targets.size()) + " targets",
               logits.shape(), "end the network in [N, classes]");
  }
  if (targets.dtype() != DType::kI64) {
    throw UsageError({.where = "cross entropy",
                      .required = "targets are class numbers of type i64",
                      .given = "they are " + std::string(NameOf(targets.dtype())),
                      .advice = "give labels, or use a loss for real targets"});
  }
  const Tensor loss = context.Allocate({1}, context.master_dtype());
  const Tensor log_sum_exp = context.Allocate({targets.size()}, context.master_dtype());
  context.Launch(
      {OperationKind::kLoss, BytesOf(logits.value, targets)}, [&](Backend& backend, void*) {
        backend.loss().CrossEntropyForward(logits.value, targets, options, log_sum_exp, loss);
      });
  return context.Record(loss, logits.needs_gradient(), [=](Context& ctx, Tensor dloss) {
    const Tensor dlogits = ctx.Allocate(logits.shape(), logits.dtype());
    ctx.Launch({OperationKind::kLoss, BytesOf(logits.value, targets, dlogits)},
               [&](Backend& backend, void*) {
                 backend.loss().CrossEntropyBackward(dloss, logits.value, targets, options,
                                                     log_sum_exp, dlogits);
               });
    ctx.Accumulate(logits.slot, dlogits);
  });
}

Var RegressionLoss(Context& context, const Var& x, const Var& target, Regression kind,
                   double delta) {
  if (target.dtype() == DType::kI64) {
    throw UsageError({.where = "loss",
                      .required = "it compares with real targets",
                      .given = "they are labels of type i64",
                      .advice = "use a loss for labels (cross_entropy, focal, hinge), or give "
                                "real targets"});
  }
  if (!(x.shape() == target.shape())) {
    ThrowShape(context, "the loss compares with a target of shape " + ToString(target.shape()),
               x.shape(), "end the network in the target's shape, or correct the target's");
  }
  if (IsBf16(x) || IsBf16(target)) {
    return RegressionLoss(context, CastToF32(context, x), CastToF32(context, target), kind, delta);
  }
  const Tensor loss = context.Allocate({1}, context.master_dtype());
  context.Launch({OperationKind::kLoss, BytesOf(x.value, target.value)},
                 [&](Backend& backend, void*) {
                   backend.loss().RegressionForward(kind, delta, x.value, target.value, loss);
                 });
  const bool differentiable = x.needs_gradient() || target.needs_gradient();
  return context.Record(loss, differentiable, [=](Context& ctx, const Tensor& dloss) {
    if (x.needs_gradient()) {
      const Tensor dx = ctx.Allocate(x.shape(), x.dtype());
      ctx.Launch({OperationKind::kLoss, BytesOf(x.value, target.value, dx)},
                 [&](Backend& backend, void*) {
                   backend.loss().RegressionBackward(kind, delta, dloss, x.value, target.value, dx);
                 });
      ctx.Accumulate(x.slot, dx);
    }
    if (target.needs_gradient()) {
      const Tensor dtarget = ctx.Allocate(x.shape(), x.dtype());
      ctx.Launch({OperationKind::kLoss, BytesOf(x.value, target.value, dtarget)},
                 [&](Backend& backend, void*) {
                   backend.loss().RegressionTargetBackward(kind, delta, dloss, x.value,
                                                           target.value, dtarget);
                 });
      ctx.Accumulate(target.slot, dtarget);
    }
  });
}

Var RegressionLoss(Context& context, const Var& x, const Tensor& target, Regression kind,
                   double delta) {
  return RegressionLoss(context, x, Var{target, Var::kNoGradient}, kind, delta);
}

Var Softmax(Context& context, const Var& x) { return SoftmaxOf(context, x, false); }
Var LogSoftmax(Context& context, const Var& x) { return SoftmaxOf(context, x, true); }

}  // namespace frugal
