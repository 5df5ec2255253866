#include "sdk/train/step.h"

#include <utility>
#include <vector>

#include "sdk/module/parameter_store.h"
#include "sdk/module/repeat.h"
#include "sdk/train/step_pieces.h"

namespace frugal {
namespace {

Evaluated ReadAndRun(Context& context, const StepParts& parts, const DataSource* source,
                     std::span<const std::int64_t> samples, double share = 1) {
  return RunForward(context, parts, ReadInputs(context, parts, source, samples), share);
}

// Forward and backward of one part of a batch; adds its share of the loss to `result`.
void RunMicroBatch(Context& context, const StepParts& parts, const DataSource* source,
                   std::span<const std::int64_t> samples, double share, ReductionGroups& groups,
                   StepResult& result) {
  groups.Begin(context.micro_batch());
  Tape tape;
  const TapeScope scope(context, &tape);
  Evaluated evaluated = ReadAndRun(context, parts, source, samples, share);
  RequireFinite(context, parts, "the loss", evaluated.result.loss);
  AddPart(result, evaluated.result, share);
  const int loss_slot = evaluated.loss.slot;
  evaluated.loss = Var();
  if (loss_slot != Var::kNoGradient) RunBackward(context, tape, loss_slot, share);
}

// Calls run(i) for each micro-batch that has samples. In groups they are no equal turns.
template <class Run>
void RunMicroBatches(Context& context, const StepParts& parts, std::int64_t batch, Run run) {
  const std::int64_t larger = batch % parts.micro_batches;
  const std::int64_t others = batch >= parts.micro_batches ? parts.micro_batches - larger : 0;
  if (parts.reduction_groups > 1) {
    for (std::int64_t i = 0; i < larger + others; ++i) run(i);
    return;
  }
  Repeat(context, larger, run);
  Repeat(context, others, [&](std::int64_t i) { run(larger + i); });
}

}  // namespace

StepResult TrainStep(Context& context, const StepParts& parts, const Optimizer& optimizer,
                     const DataSource* source, std::span<const std::int64_t> samples) {
  context.set_training(true);
  context.parameters().ClearGradients();
  const UpdatesInBackward updates(context, parts, optimizer);
  const auto batch = static_cast<std::int64_t>(samples.size());
  ReductionGroups groups(context, parts, parts.micro_batches);
  std::vector<StepResult> results(static_cast<std::size_t>(parts.reduction_groups));
  const std::int64_t in_group = parts.micro_batches / parts.reduction_groups;
  const auto run = [&](std::int64_t i) {
    const auto [begin, count] = MicroBatchAt(batch, parts.micro_batches, i);
    const MicroBatchScope part(context, i);
    BeginForward(context);
    RunMicroBatch(context, parts, source,
                  samples.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)),
                  static_cast<double>(count) / static_cast<double>(batch), groups,
                  results[static_cast<std::size_t>(i / in_group)]);
  };
  RunMicroBatches(context, parts, batch, run);
  groups.End();
  StepResult result = SumOf(results);
  result.gradient_norm = optimizer.GradientNorm(context, parts.parameters);
  RequireFinite(context, parts, "the norm of the gradients", result.gradient_norm);
  optimizer.Step(context, parts.parameters, result.gradient_norm);
  return result;
}

StepResult EvaluateStep(Context& context, const StepParts& parts, const DataSource* source,
                        std::span<const std::int64_t> samples) {
  context.set_training(false);
  const TapeScope scope(context, nullptr);
  return ReadAndRun(context, parts, source, samples).result;
}

void PredictStep(Context& context, const StepParts& parts, std::span<const InputValues> inputs,
                 std::int64_t count, PredictedValues& outputs) {
  context.set_training(false);
  const TapeScope scope(context, nullptr);
  VarTuple vars = InputsFrom(context, parts, inputs, count);
  parts.network(context, vars);
  CopyOutputs(context, OutputsAmong(parts, std::exchange(vars, {})), outputs);
}

}  // namespace frugal
