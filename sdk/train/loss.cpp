#include "sdk/train/loss.h"

#include <array>

#include "sdk/core/error.h"

namespace frugal {

std::string_view NameOf(LossKind kind) {
  constexpr auto names =
      std::to_array<std::string_view>({"cross_entropy", "mse", "l1", "huber", "bce_with_logits"});
  static_assert(names.size() == static_cast<std::size_t>(LossKind::kBceWithLogits) + 1);
  return names[static_cast<std::size_t>(kind)];
}

bool TakesLabels(LossKind kind) { return kind == LossKind::kCrossEntropy; }

std::string NameOf(const LossOptions& options) {
  return options.function ? "own" : std::string(NameOf(options.kind));
}

namespace {

Var OwnLoss(Context& context, const LossFunction& function, const Var& output,
            const Tensor& targets) {
  Var loss = function(context, output, targets);
  if (loss.value && loss.value.size() == 1 && loss.dtype() == context.master_dtype()) return loss;
  throw UsageError(
      {.where = "loss",
       .required = "a loss is a scalar [1] of type " + std::string(NameOf(context.master_dtype())),
       .given = loss.value ? "the program's function made " + ToString(loss.shape()) + " of type " +
                                 std::string(NameOf(loss.dtype()))
                           : "the program's function made nothing",
       .advice = "end it in a mean over all axes, e.g. of CastToF32(...)"});
}

}  // namespace

Var ComputeLoss(Context& context, const LossOptions& options, const Var& output,
                const Tensor& targets) {
  const LabelScope label(context, "loss");
  if (options.function) return OwnLoss(context, options.function, output, targets);
  switch (options.kind) {
    case LossKind::kCrossEntropy:
      return CrossEntropy(context, output, targets,
                          {options.label_smoothing, options.ignore_index});
    case LossKind::kMse:
      return RegressionLoss(context, output, targets, Regression::kMse);
    case LossKind::kL1:
      return RegressionLoss(context, output, targets, Regression::kL1);
    case LossKind::kHuber:
      return RegressionLoss(context, output, targets, Regression::kHuber, options.delta);
    case LossKind::kBceWithLogits:
      break;
  }
  return RegressionLoss(context, output, targets, Regression::kBceWithLogits);
}

}  // namespace frugal
