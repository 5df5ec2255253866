#include "sdk/train/step_parts.h"

#include <utility>

#include "sdk/ops/vocabulary_loss.h"

namespace frugal {
namespace {

bool TargetsAreLabels(const StepParts& parts) {
  return parts.layout.classes > 0 && parts.diffusion == nullptr;
}

std::int64_t CountCorrect(Context& context, const StepParts& parts, const Tensor& output,
                          const Tensor& targets) {
  std::int64_t correct = 0;
  if (!TargetsAreLabels(parts)) return 0;
  context.Launch({OperationKind::kLoss, BytesOf(output, targets)}, [&](Backend& backend, void*) {
    correct = backend.loss().CountCorrect(output, targets);
  });
  return correct;
}

}  // namespace

TargetLayout TargetsOf(const StepParts& parts, std::int64_t batch, DType exact) {
  if (parts.diffusion != nullptr) return {parts.layout.BatchShape(batch), exact};
  return {parts.layout.TargetBatchShape(batch), TargetsAreLabels(parts) ? DType::kI64 : exact};
}

std::optional<Projection> ProjectionForLoss(const StepParts& parts) {
  const bool over_positions = TargetsAreLabels(parts) && parts.layout.label_shape.rank() > 0;
  if (!over_positions || parts.loss.function || !TakesLabels(parts.loss.kind)) return std::nullopt;
  const std::optional<Projection> projection = parts.network.LastProjection();
  return projection && projection->layout == WeightLayout::kOutIn ? projection : std::nullopt;
}

std::optional<Projection> ProjectionForLoss(const Context& context, const StepParts& parts) {
  if (parts.needs_outputs && !context.training()) return std::nullopt;
  return ProjectionForLoss(parts);
}

LossOfBatch RunLoss(Context& context, const StepParts& parts, const Var& output,
                    const Tensor& targets, double share) {
  if (const auto projection = ProjectionForLoss(context, parts)) {
    const LabelScope label(context, "loss");
    VocabularyLoss loss =
        LinearCrossEntropy(context, output, *projection->weight, projection->bias, targets,
                           {.label_smoothing = parts.loss.label_smoothing,
                            .ignore_index = parts.loss.ignore_index,
                            .seed = share,
                            .chunk_rows = parts.chunk_rows});
    return {std::move(loss.loss), loss.correct};
  }
  LossOfBatch result = {ComputeLoss(context, parts.loss, output, targets)};
  result.correct = CountCorrect(context, parts, output.value, targets);
  return result;
}

std::int64_t MicroBatchSize(std::int64_t batch, std::int64_t parts, std::int64_t index) {
  return batch / parts + (index < batch % parts ? 1 : 0);
}

StepResult SumOf(std::span<const StepResult> groups) {
  StepResult sum = groups.front();
  for (const StepResult& group : groups.subspan(1)) {
    sum.loss += group.loss;
    sum.correct += group.correct;
  }
  return sum;
}

}  // namespace frugal
