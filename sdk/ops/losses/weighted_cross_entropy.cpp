#include "sdk/ops/losses/weighted_cross_entropy.h"

#include <algorithm>
#include <string>

#include "sdk/core/error.h"
#include "sdk/ops/losses/loss_checks.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

using Options = LossKernels::WeightedCrossEntropyOptions;

// The weights as a tensor of this step; empty where there are none.
Tensor ClassWeights(Context& context, const Var& logits, std::span<const double> weights) {
  if (weights.empty()) return {};
  const auto count = static_cast<std::int64_t>(weights.size());
  if (logits.shape().back() != count) {
    ThrowShape(context, std::to_string(count) + " class weights take as many outputs",
               logits.shape(), "give a weight for each class, in their order");
  }
  Tensor tensor = context.Allocate({count}, context.master_dtype());
  context.Launch({OperationKind::kLoss, BytesOf(tensor)}, [&](Backend&, void*) {
    if (tensor.dtype() == DType::kF64) {
      std::ranges::copy(weights, tensor.data<double>());
    } else {
      std::ranges::transform(weights, tensor.data<float>(),
                             [](double weight) { return static_cast<float>(weight); });
    }
  });
  return tensor;
}

}  // namespace

Var CrossEntropyOf(Context& context, const Var& logits, const Tensor& targets,
                   const WeightedCrossEntropy& loss) {
  CheckLabels(context, "cross entropy", logits, targets);
  CheckSampleWeights(context, logits, loss.sample_weights);
  const Var x = CastToF32(context, logits);
  const Options options = {.label_smoothing = loss.label_smoothing,
                           .ignore_index = loss.ignore_index,
                           .focusing = loss.focusing,
                           .class_weights = ClassWeights(context, logits, loss.class_weights),
                           .sample_weights = loss.sample_weights};
  const Tensor value = context.Allocate({1}, context.master_dtype());
  const Tensor log_sum_exp = context.Allocate({targets.size()}, context.master_dtype());
  context.Launch({OperationKind::kLoss, BytesOf(x.value, targets)}, [&](Backend& backend, void*) {
    backend.loss().WeightedCrossEntropyForward(x.value, targets, options, log_sum_exp, value);
  });
  return context.Record(value, x.needs_gradient(),
                        [=, rows = x.value, slot = x.slot](Context& ctx, Tensor dloss) {
                          const Tensor dx = ctx.Allocate(rows.shape(), rows.dtype());
                          ctx.Launch({OperationKind::kLoss, BytesOf(rows, targets, dx)},
                                     [&](Backend& backend, void*) {
                                       backend.loss().WeightedCrossEntropyBackward(
                                           dloss, rows, targets, options, log_sum_exp, dx);
                                     });
                          ctx.Accumulate(slot, dx);
                        });
}

}  // namespace frugal
