#include "sdk/train/step.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

struct Batch {
  Tensor inputs;
  Tensor targets;
};

Batch ReadBatch(Context& context, const DataLayout& layout, const DataSource* source,
                std::span<const std::int64_t> samples) {
  const LabelScope label(context, "batch");
  const auto count = static_cast<std::int64_t>(samples.size());
  const DType target_type = layout.classes > 0 ? DType::kI64 : context.dtype();
  const Batch batch = {
      context.Allocate(layout.BatchShape(count), layout.InputType(context.dtype()),
                       MemoryTag::kData),
      context.Allocate(layout.TargetBatchShape(count), target_type, MemoryTag::kData)};
  context.Launch([&](Backend&, void*) { source->Fill(samples, batch.inputs, batch.targets); });
  return batch;
}

double ScalarOf(Context& context, const Tensor& scalar) {
  double value = 0;
  context.Launch([&](Backend&, void*) {
    value = scalar.dtype() == DType::kF64 ? *scalar.data<double>() : *scalar.data<float>();
  });
  return value;
}

std::int64_t CountCorrect(Context& context, const StepParts& parts, const Tensor& output,
                          const Tensor& targets) {
  std::int64_t correct = 0;
  if (parts.layout.classes == 0) return 0;
  context.Launch(
      [&](Backend& backend, void*) { correct = backend.loss().CountCorrect(output, targets); });
  return correct;
}

// Loss and output of one batch; the batch's inputs and the output are released as early as the
// tape allows.
struct Evaluated {
  Var loss;
  StepResult result;
};
Evaluated RunForward(Context& context, const StepParts& parts, const DataSource* source,
                     std::span<const std::int64_t> samples) {
  Batch batch = ReadBatch(context, parts.layout, source, samples);
  const Var output = parts.network(context, {std::exchange(batch.inputs, {}), Var::kNoGradient});
  Evaluated evaluated;
  evaluated.loss = ComputeLoss(context, parts.loss, output, batch.targets);
  evaluated.result.loss = ScalarOf(context, evaluated.loss.value);
  evaluated.result.correct = CountCorrect(context, parts, output.value, batch.targets);
  return evaluated;
}

void RunBackward(Context& context, Tape& tape, int loss_slot) {
  const LabelScope label(context, "loss");
  const Tensor one = context.Allocate({1});
  context.Launch([&](Backend& backend, void*) { backend.elementwise().Fill(one, 1); });
  tape.Backward(context, loss_slot, one);
}

// The network's outputs for a batch of inputs, which `fill` writes.
template <class Fill>
Shape PredictFrom(Context& context, const StepParts& parts, std::int64_t count, const Fill& fill,
                  std::vector<float>& outputs) {
  context.set_training(false);
  const TapeScope scope(context, nullptr);
  Tensor x = context.Allocate(parts.layout.BatchShape(count),
                              parts.layout.InputType(context.dtype()), MemoryTag::kData);
  context.Launch([&](Backend&, void*) { fill(x); });
  const Var y = parts.network(context, {std::exchange(x, {}), Var::kNoGradient});
  context.Launch([&](Backend&, void*) {
    if (y.value.dtype() == DType::kF64) {
      const auto values = y.value.values<double>();
      outputs.clear();
      std::ranges::transform(values, std::back_inserter(outputs),
                             [](double value) { return static_cast<float>(value); });
    } else {
      outputs.assign(y.value.values<float>().begin(), y.value.values<float>().end());
    }
  });
  return y.shape();
}

}  // namespace

StepResult TrainStep(Context& context, const StepParts& parts, const Optimizer& optimizer,
                     const DataSource* source, std::span<const std::int64_t> samples) {
  context.set_training(true);
  context.parameters().ClearGradients();
  Tape tape;
  const TapeScope scope(context, &tape);
  Evaluated evaluated = RunForward(context, parts, source, samples);
  const int loss_slot = evaluated.loss.slot;
  evaluated.loss = Var();
  if (loss_slot != Var::kNoGradient) RunBackward(context, tape, loss_slot);
  evaluated.result.gradient_norm = optimizer.Step(context, parts.parameters);
  return evaluated.result;
}

StepResult EvaluateStep(Context& context, const StepParts& parts, const DataSource* source,
                        std::span<const std::int64_t> samples) {
  context.set_training(false);
  const TapeScope scope(context, nullptr);
  return RunForward(context, parts, source, samples).result;
}

Shape PredictStep(Context& context, const StepParts& parts, std::span<const float> inputs,
                  std::int64_t count, std::vector<float>& outputs) {
  const auto copy = [&](const Tensor& x) {
    if (x.dtype() == DType::kF64) {
      std::ranges::copy(inputs, x.data<double>());
    } else {
      std::ranges::copy(inputs, x.data<float>());
    }
  };
  return PredictFrom(context, parts, count, copy, outputs);
}

Shape PredictTokensStep(Context& context, const StepParts& parts,
                        std::span<const std::int64_t> tokens, std::int64_t count,
                        std::vector<float>& outputs) {
  const auto copy = [&](const Tensor& x) { std::ranges::copy(tokens, x.data<std::int64_t>()); };
  return PredictFrom(context, parts, count, copy, outputs);
}

}  // namespace frugal
