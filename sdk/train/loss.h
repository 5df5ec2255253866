#pragma once

#include "sdk/ops/loss.h"

namespace frugal {

enum class LossKind : std::uint8_t { kCrossEntropy, kMse, kL1, kHuber, kBceWithLogits };
std::string_view NameOf(LossKind kind);  // "cross_entropy", "mse", "l1", "huber", ...

struct LossOptions {
  LossKind kind = LossKind::kCrossEntropy;
  double label_smoothing = 0;  // cross entropy
  std::int64_t ignore_index = -100;
  double delta = 1;  // huber
};

// Returns true where its targets are class labels (kI64 [N]) rather than values.
bool TakesLabels(LossKind kind);

// A scalar [1], the mean over the batch.
Var ComputeLoss(Context& context, const LossOptions& options, const Var& output,
                const Tensor& targets);

}  // namespace frugal
