#include "sdk/train/step_parts.h"

#include <algorithm>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/vocabulary_loss.h"

namespace frugal {
namespace {

bool TargetsAreLabels(const StepParts& parts) {
  return parts.layout.classes > 0 && parts.diffusion == nullptr;
}

// Returns 0 where the rows of the output are no votes for labels.
std::int64_t CountCorrect(Context& context, const LossOptions& loss, const Tensor& output,
                          const Tensor& labels) {
  std::int64_t correct = 0;
  if (!VotesForLabels(loss) || output.shape().RowCount() != labels.size()) return 0;
  context.Launch({OperationKind::kLoss, BytesOf(output, labels)}, [&](Backend& backend, void*) {
    correct = backend.loss().CountCorrect(output, labels);
  });
  return correct;
}

// Holds what an output is compared with.
struct OutputTargets {
  Tensor values;
  std::int64_t classes = 0;
};

OutputTargets TargetsFor(const StepParts& parts, const NetworkOutput& output, const Batch& batch) {
  if (output.options.target.empty()) return {batch.targets, parts.layout.classes};
  const auto& all = parts.layout.more_targets;
  const auto found = std::ranges::find(all, output.options.target, &NamedTargets::name);
  return {batch.more_targets[static_cast<std::size_t>(found - all.begin())], found->classes};
}

void CheckClasses(const NetworkOutput& output, const Var& value, std::int64_t classes) {
  if (value.shape().back() >= classes) return;
  throw ShapeError({.where = "loss",
                    .required = "output '" + output.name + "' ends in a number for each of its " +
                                std::to_string(classes) + " classes",
                    .given = "it is " + ToString(value.shape()),
                    .advice = "let its last layer have " + std::to_string(classes) + " units"});
}

// The first output, whose loss may run the network's last projection itself.
OutputLoss FirstLoss(Context& context, const StepParts& parts, const Var& output,
                     const Batch& batch, double share) {
  const Tensor& targets = batch.targets;
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
  OutputLoss result = {ComputeLoss(context, parts.loss, output, targets, batch.weights)};
  if (TargetsAreLabels(parts)) {
    result.correct = CountCorrect(context, parts.loss, output.value, targets);
  }
  return result;
}

OutputLoss LossOf(Context& context, const StepParts& parts, const NetworkOutput& output,
                  const Var& value, const Batch& batch) {
  const LabelScope label(context, output.name);
  const OutputTargets targets = TargetsFor(parts, output, batch);
  if (targets.classes > 0) CheckClasses(output, value, targets.classes);
  const LossOptions& loss = output.options.loss;
  OutputLoss result = {ComputeLoss(context, loss, value, targets.values, batch.weights)};
  if (targets.classes > 0) {
    result.correct = CountCorrect(context, loss, value.value, targets.values);
  }
  return result;
}

}  // namespace

Batch AllocateTargets(Context& context, const StepParts& parts, std::int64_t batch) {
  const bool labels = TargetsAreLabels(parts);
  const Shape shape = parts.diffusion != nullptr ? parts.layout.BatchShape(batch)
                                                 : parts.layout.TargetBatchShape(batch);
  Batch targets;
  targets.targets =
      context.Allocate(shape, labels ? DType::kI64 : context.master_dtype(), MemoryTag::kData);
  targets.more_targets = AllocateMoreTargets(context, parts.layout, batch);
  targets.weights = AllocateWeights(context, parts.layout, batch);
  return targets;
}

VarTuple OutputsAmong(const StepParts& parts, VarTuple vars) {
  const std::size_t others = parts.more_outputs.size();
  if (vars.size() <= others) {
    throw UsageError({.where = "model",
                      .required = "the network hands on its " + std::to_string(others + 1) +
                                  " outputs (Sequential::SetOutputs)",
                      .given = "it hands on " + std::to_string(vars.size()),
                      .advice = "push each output (PushSkip) before its last layer"});
  }
  vars.erase(vars.begin() + 1, vars.end() - static_cast<std::ptrdiff_t>(others));
  return vars;
}

std::optional<Projection> ProjectionForLoss(const StepParts& parts) {
  if (!parts.more_outputs.empty()) return std::nullopt;
  const bool over_positions = TargetsAreLabels(parts) && parts.layout.label_shape.rank() > 0;
  const bool plain = IsPlainCrossEntropy(parts.loss) && !parts.layout.sample_weights;
  if (!over_positions || !plain) return std::nullopt;
  const std::optional<Projection> projection = parts.network.LastProjection();
  return projection && projection->layout == WeightLayout::kOutIn ? projection : std::nullopt;
}

std::optional<Projection> ProjectionForLoss(const Context& context, const StepParts& parts) {
  if (parts.needs_outputs && !context.training()) return std::nullopt;
  return ProjectionForLoss(parts);
}

LossOfBatch RunLoss(Context& context, const StepParts& parts, const VarTuple& outputs,
                    const Batch& batch, double share) {
  LossOfBatch result;
  result.outputs.push_back(FirstLoss(context, parts, outputs[0], batch, share));
  result.loss = result.outputs[0].loss;
  for (std::size_t i = 0; i < parts.more_outputs.size(); ++i) {
    const NetworkOutput& output = parts.more_outputs[i];
    result.outputs.push_back(LossOf(context, parts, output, outputs[i + 1], batch));
    const LabelScope label(context, "loss");
    result.loss = Add(context, Scale(context, result.outputs.back().loss, output.options.weight),
                      result.loss);
  }
  return result;
}

std::int64_t MicroBatchSize(std::int64_t batch, std::int64_t parts, std::int64_t index) {
  return batch / parts + (index < batch % parts ? 1 : 0);
}

void AddPart(StepResult& sum, const StepResult& part, double share) {
  sum.loss += share * part.loss;
  sum.correct += part.correct;
  if (sum.outputs.size() < part.outputs.size()) sum.outputs.resize(part.outputs.size());
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    sum.outputs[i].loss += share * part.outputs[i].loss;
    sum.outputs[i].correct += part.outputs[i].correct;
  }
}

StepResult SumOf(std::span<const StepResult> groups) {
  StepResult sum = groups.front();
  for (const StepResult& group : groups.subspan(1)) AddPart(sum, group, 1);
  return sum;
}

}  // namespace frugal
