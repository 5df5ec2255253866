#pragma once

#include <functional>

#include "sdk/ops/loss.h"

namespace frugal {

enum class LossKind : std::uint8_t { kCrossEntropy, kMse, kL1, kHuber, kBceWithLogits };
std::string_view NameOf(LossKind kind);  // "cross_entropy", "mse", "l1", "huber", ...

// A loss of a program's own: makes a scalar [1] of the network's output and a batch's targets,
// which are labels (kI64) or values.
using LossFunction = std::function<Var(Context&, const Var& output, const Tensor& targets)>;

struct LossOptions {
  LossKind kind = LossKind::kCrossEntropy;
  double label_smoothing = 0;  // cross entropy
  std::int64_t ignore_index = -100;
  double delta = 1;         // huber
  LossFunction function{};  // where there is one, `kind` says nothing
};

// Returns true where its targets are class labels (kI64 [N]) rather than values.
bool TakesLabels(LossKind kind);
std::string NameOf(const LossOptions& options);

// A scalar [1], the mean over the batch.
Var ComputeLoss(Context& context, const LossOptions& options, const Var& output,
                const Tensor& targets);

}  // namespace frugal
