#include "sdk/train/loss.h"

#include <array>

namespace frugal {

std::string_view NameOf(LossKind kind) {
  constexpr auto names =
      std::to_array<std::string_view>({"cross_entropy", "mse", "l1", "huber", "bce_with_logits"});
  static_assert(names.size() == static_cast<std::size_t>(LossKind::kBceWithLogits) + 1);
  return names[static_cast<std::size_t>(kind)];
}

bool TakesLabels(LossKind kind) { return kind == LossKind::kCrossEntropy; }

Var ComputeLoss(Context& context, const LossOptions& options, const Var& output,
                const Tensor& targets) {
  const LabelScope label(context, "loss");
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
