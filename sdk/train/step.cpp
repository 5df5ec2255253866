#include "sdk/train/step.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/module/parameter_store.h"
#include "sdk/module/repeat.h"
#include "sdk/ops/scalar.h"
#include "sdk/ops/support/precision.h"
#include "sdk/ops/vocabulary_loss.h"
#include "sdk/train/batch.h"

namespace frugal {
namespace {

bool TargetsAreLabels(const StepParts& parts) {
  return parts.layout.classes > 0 && parts.diffusion == nullptr;
}

// A network says as much of a sample as there is to know of its noise.
void CheckPrediction(const Var& output, const Tensor& target) {
  if (output.shape() == target.shape()) return;
  throw ShapeError({.where = "loss",
                    .required = "in diffusion the network's output has the data's shape " +
                                ToString(target.shape()),
                    .given = "it is " + ToString(output.shape()),
                    .advice = "give it as many output channels as the data have, e.g. "
                              "learn_sigma = false in [model.config]"});
}

double ScalarOf(Context& context, const Tensor& scalar) {
  double value = 0;
  context.Launch({OperationKind::kData, BytesOf(scalar)},
                 [&](Backend&, void*) { value = ScalarIn(scalar); });
  return value;
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

// Loss of one batch; the batch's inputs and the output are released as early as the tape allows.
struct Evaluated {
  Var loss;
  StepResult result;
};

Var RunNetwork(Context& context, const StepParts& parts, VarTuple inputs) {
  if (ProjectionForLoss(parts)) {
    const Var input = std::exchange(inputs[0], Var());
    return parts.network.RunUpToProjection(context, input);
  }
  parts.network(context, inputs);
  return std::move(inputs[0]);
}

// `share` of the batch in the step: what backward is seeded with.
Evaluated RunForward(Context& context, const StepParts& parts, const DataSource* source,
                     std::span<const std::int64_t> samples, double share = 1) {
  Batch batch = ReadBatch(context, parts.layout, source, samples);
  if (parts.diffusion != nullptr) parts.diffusion->Noise(context, parts.inputs, samples, batch);
  const Tensor targets = batch.targets;
  ToActivations(context, parts.inputs, batch.inputs);
  const Var output = RunNetwork(context, parts, std::move(batch.inputs));
  if (parts.diffusion != nullptr) CheckPrediction(output, targets);
  LossOfBatch loss = RunLoss(context, parts, output, targets, share);
  Evaluated evaluated;
  evaluated.loss = std::move(loss.loss);
  evaluated.result.correct = loss.correct;
  evaluated.result.loss = ScalarOf(context, evaluated.loss.value);
  return evaluated;
}

void RunBackward(Context& context, Tape& tape, int loss_slot, double seed) {
  const LabelScope label(context, "loss");
  const Tensor start = context.Allocate({1}, context.master_dtype());
  context.Launch({OperationKind::kLoss, BytesOf(start)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(start, seed); });
  tape.Backward(context, loss_slot, start);
}

// While it lives, parameters are updated as soon as their gradients are final.
class UpdatesInBackward {
 public:
  UpdatesInBackward(Context& context, const StepParts& parts, const Optimizer& optimizer)
      : context_(context), active_(!parts.final_after.empty()) {
    if (!active_) return;
    context.set_after_backward([&parts, &optimizer](Context& ctx) {
      for (const std::size_t index : ctx.parameters().TakeFinal(parts.final_after)) {
        optimizer.StepOne(ctx, *parts.parameters[index]);
        ctx.parameters().FreeGradient(*parts.parameters[index]);
      }
    });
  }
  UpdatesInBackward(const UpdatesInBackward&) = delete;
  UpdatesInBackward& operator=(const UpdatesInBackward&) = delete;
  ~UpdatesInBackward() {
    context_.set_after_backward({});
    if (active_) context_.parameters().FreeGradients();  // also where a step ends in an error
  }

 private:
  Context& context_;
  bool active_;
};

class MicroBatchScope {
 public:
  MicroBatchScope(Context& context, std::int64_t number) : context_(context) {
    context_.set_micro_batch(number);
  }
  MicroBatchScope(const MicroBatchScope&) = delete;
  MicroBatchScope& operator=(const MicroBatchScope&) = delete;
  ~MicroBatchScope() { context_.set_micro_batch(0); }

 private:
  Context& context_;
};

void RequireFinite(const Context& context, const StepParts& parts, const std::string& what,
                   double value) {
  if (parts.on_divergence == DivergencePolicy::kWarn || std::isfinite(value)) return;
  throw Diverged(what + " of step " + std::to_string(context.step() + 1) + " is " +
                 NonFiniteText(value));
}

// Forward and backward of one part of a batch; adds its share of the loss to `result`.
void RunMicroBatch(Context& context, const StepParts& parts, const DataSource* source,
                   std::span<const std::int64_t> samples, double share, StepResult& result) {
  Tape tape;
  const TapeScope scope(context, &tape);
  Evaluated evaluated = RunForward(context, parts, source, samples, share);
  RequireFinite(context, parts, "the loss", evaluated.result.loss);
  result.loss += share * evaluated.result.loss;
  result.correct += evaluated.result.correct;
  const int loss_slot = evaluated.loss.slot;
  evaluated.loss = Var();
  if (loss_slot != Var::kNoGradient) RunBackward(context, tape, loss_slot, share);
}

void CopyInto(const InputValues& values, const Tensor& x) {
  if (x.dtype() == DType::kI64) {
    std::ranges::copy(std::get<1>(values), x.data<std::int64_t>());
  } else if (x.dtype() == DType::kF64) {
    std::ranges::copy(std::get<0>(values), x.data<double>());
  } else {
    std::ranges::copy(std::get<0>(values), x.data<float>());
  }
}

void CopyFrom(const Tensor& y, std::vector<float>& outputs) {
  if (y.dtype() == DType::kF64) {
    outputs.clear();
    std::ranges::transform(y.values<double>(), std::back_inserter(outputs),
                           [](double value) { return static_cast<float>(value); });
  } else {
    outputs.assign(y.values<float>().begin(), y.values<float>().end());
  }
}

}  // namespace

TargetLayout TargetsOf(const StepParts& parts, std::int64_t batch, DType exact) {
  if (parts.diffusion != nullptr) return {parts.layout.BatchShape(batch), exact};
  return {parts.layout.TargetBatchShape(batch), TargetsAreLabels(parts) ? DType::kI64 : exact};
}

std::optional<Projection> ProjectionForLoss(const StepParts& parts) {
  const bool over_positions = TargetsAreLabels(parts) && parts.layout.label_shape.rank() > 0;
  if (!over_positions || !TakesLabels(parts.loss.kind)) return std::nullopt;
  const std::optional<Projection> projection = parts.network.LastProjection();
  return projection && projection->layout == WeightLayout::kOutIn ? projection : std::nullopt;
}

LossOfBatch RunLoss(Context& context, const StepParts& parts, const Var& output,
                    const Tensor& targets, double share) {
  if (const auto projection = ProjectionForLoss(parts)) {
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

StepResult TrainStep(Context& context, const StepParts& parts, const Optimizer& optimizer,
                     const DataSource* source, std::span<const std::int64_t> samples) {
  context.set_training(true);
  context.parameters().ClearGradients();
  const UpdatesInBackward updates(context, parts, optimizer);
  const auto batch = static_cast<std::int64_t>(samples.size());
  StepResult result;
  const auto run = [&](std::int64_t i, std::int64_t begin) {
    const std::int64_t count = MicroBatchSize(batch, parts.micro_batches, i);
    const MicroBatchScope part(context, i);
    RunMicroBatch(context, parts, source,
                  samples.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)),
                  static_cast<double>(count) / static_cast<double>(batch), result);
  };
  // The first parts have a sample more than the others, which may have none.
  const std::int64_t larger = batch % parts.micro_batches;
  const std::int64_t size = batch / parts.micro_batches;
  Repeat(context, larger, [&](std::int64_t i) { run(i, i * (size + 1)); });
  const std::int64_t others = size > 0 ? parts.micro_batches - larger : 0;
  Repeat(context, others, [&](std::int64_t i) { run(larger + i, larger + (larger + i) * size); });
  result.gradient_norm = optimizer.GradientNorm(context, parts.parameters);
  RequireFinite(context, parts, "the norm of the gradients", result.gradient_norm);
  optimizer.Step(context, parts.parameters, result.gradient_norm);
  return result;
}

StepResult EvaluateStep(Context& context, const StepParts& parts, const DataSource* source,
                        std::span<const std::int64_t> samples) {
  context.set_training(false);
  const TapeScope scope(context, nullptr);
  return RunForward(context, parts, source, samples).result;
}

Shape PredictStep(Context& context, const StepParts& parts, std::span<const InputValues> inputs,
                  std::int64_t count, std::vector<float>& outputs) {
  context.set_training(false);
  const TapeScope scope(context, nullptr);
  VarTuple vars = AllocateInputs(context, parts.inputs, count);
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const Tensor& x = vars[i].value;
    context.Launch({OperationKind::kData, BytesOf(x)},
                   [&](Backend&, void*) { CopyInto(inputs[i], x); });
  }
  ToActivations(context, parts.inputs, vars);
  parts.network(context, vars);
  const Var y = CastToF32(context, std::exchange(vars, {})[0]);
  context.Launch({OperationKind::kData, BytesOf(y.value)},
                 [&](Backend&, void*) { CopyFrom(y.value, outputs); });
  return y.shape();
}

}  // namespace frugal
