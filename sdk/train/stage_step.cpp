#include "sdk/train/stage_step.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/module/parameter_store.h"
#include "sdk/train/gradient_buckets.h"
#include "sdk/train/replica_exchange.h"
#include "sdk/train/replica_statistics.h"
#include "sdk/train/stage_channel.h"
#include "sdk/train/stage_update.h"
#include "sdk/train/step_pieces.h"

namespace frugal {
namespace {

// Holds a micro-batch between its forward and its backward pass.
struct Pass {
  std::size_t lane = 0;  // no other one between its passes has it
  Tape tape;
  std::vector<int> inputs;   // slots of what came in; kNoGradient where there is none
  std::vector<int> outputs;  // slots of what went out
  int loss = Var::kNoGradient;
  DeferredGradients weights;  // that wait for their slot
};

// Holds the samples of a micro-batch.
struct MicroBatch {
  std::span<const std::int64_t> samples;
  double share = 1;       // of the step
  std::size_t group = 0;  // StepParts::reduction_groups
};

// Does a stage's work on a batch, in the order in which it is asked to.
class StageRun {
 public:
  StageRun(Context& context, const StepParts& parts, const PipelineStage& stage,
           const StageLinks& links, const DataSource* source)
      : context_(context),
        parts_(parts),
        stage_(stage),
        source_(source),
        results_(static_cast<std::size_t>(parts.reduction_groups)),
        forward_(context, links.pipeline, "activations"),
        backward_(context, links.pipeline, "gradients") {}

  // Runs forward; with a tape, what backward needs is left in `pass`.
  void Forward(const MicroBatch& batch, Pass& pass, Tape* tape) {
    const TapeScope scope(context_, tape);
    const auto count = static_cast<std::int64_t>(batch.samples.size());
    Batch data;
    if (stage_.is_first() || stage_.is_last()) {
      data = ReadInputs(context_, parts_, source_, batch.samples);
    }
    VarTuple vars = std::exchange(data.inputs, {});
    if (!stage_.is_first()) vars = Receive(count, pass, tape);
    Began();
    if (!stage_.is_last()) {
      data = {};
      parts_.network(context_, vars);
      Ended();
      return Send(count, std::move(vars), pass);
    }
    data.inputs = std::move(vars);
    Evaluated evaluated = RunForward(context_, parts_, std::move(data), batch.share);
    if (tape != nullptr) RequireFinite(context_, parts_, "the loss", evaluated.result.loss);
    AddPart(results_[batch.group], evaluated.result, batch.share);
    pass.loss = evaluated.loss.slot;
    Ended();
  }

  void Backward(const MicroBatch& batch, Pass& pass) {
    const auto count = static_cast<std::int64_t>(batch.samples.size());
    if (!stage_.is_last()) ReceiveGradients(count, pass);
    Began();
    if (!stage_.is_last()) {
      pass.tape.Backward(context_);
    } else if (pass.loss != Var::kNoGradient) {
      RunBackward(context_, pass.tape, pass.loss, batch.share);
    }
    Ended();
    if (!stage_.is_first()) SendGradients(count, pass);
  }

  void WeightGradients(Pass& pass) {
    Began();
    pass.weights.Run(context_);
    Ended();
  }

  // When the last slot worked, behind what it waited for.
  const SlotTime& slot() const { return slot_; }

  // Receives what the stage before hands on.
  VarTuple Receive(std::int64_t count, Pass& pass, Tape* tape) {
    const StageBoundary& boundary = stage_.before(count);
    VarTuple vars = InputsBehind(boundary, context_, tape, &pass.inputs);
    for (std::size_t i = 0; i < vars.size(); ++i) {
      if (boundary[i].same_as < 0) forward_.Receive(vars[i].value, Before());
    }
    return vars;
  }

  void Send(std::int64_t count, VarTuple vars, Pass& pass) {
    const StageBoundary& boundary = stage_.after(count);
    CheckBoundary(boundary, vars);
    for (std::size_t i = 0; i < vars.size(); ++i) {
      const bool again = boundary[i].same_as >= 0;
      pass.outputs.push_back(again ? Var::kNoGradient : vars[i].slot);
      if (!again) forward_.Send(i, std::move(vars[i].value), Behind());
    }
  }

  // Waits until everything that was sent has arrived.
  void Drain() {
    forward_.Drain();
    backward_.Drain();
  }

  StepResult result() const { return SumOf(results_); }

 private:
  static double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void Began() { slot_.begin = Now(); }
  void Ended() { slot_.end = Now(); }
  int Before() const { return static_cast<int>(stage_.index) - 1; }
  int Behind() const { return static_cast<int>(stage_.index) + 1; }

  // A network whose shapes depend on more than the number of samples cannot be cut.
  void CheckBoundary(const StageBoundary& boundary, const VarTuple& vars) const {
    bool same = boundary.size() == vars.size();
    for (std::size_t i = 0; same && i < vars.size(); ++i) {
      same = boundary[i].shape == vars[i].shape() && boundary[i].dtype == vars[i].dtype();
    }
    if (same) return;
    throw UsageError({.where = "stage " + std::to_string(stage_.index),
                      .required = "what leaves a stage has the planned shapes",
                      .given = std::to_string(vars.size()) + " variables leave, the first " +
                               (vars.empty() ? "of none" : ToString(vars[0].shape())),
                      .advice = {}});
  }

  void ReceiveGradients(std::int64_t count, Pass& pass) {
    const StageBoundary& boundary = stage_.after(count);
    const TapeScope scope(context_, &pass.tape);
    for (std::size_t i = 0; i < boundary.size(); ++i) {
      if (boundary[i].same_as >= 0 || !boundary[i].gets_gradient) continue;
      Tensor gradient = context_.Allocate(boundary[i].shape, boundary[i].dtype);
      backward_.Receive(gradient, Behind());
      pass.tape.Accumulate(context_, pass.outputs[i], std::move(gradient));
    }
  }

  void SendGradients(std::int64_t count, Pass& pass) {
    const StageBoundary& boundary = stage_.before(count);
    for (std::size_t i = 0; i < boundary.size(); ++i) {
      if (boundary[i].same_as >= 0 || !boundary[i].gets_gradient) continue;
      backward_.Send(i, pass.tape.TakeGradient(pass.inputs[i]), static_cast<int>(stage_.index) - 1);
    }
  }

  Context& context_;
  const StepParts& parts_;
  const PipelineStage& stage_;
  const DataSource* source_;
  std::vector<StepResult> results_;  // by group
  StageChannel forward_, backward_;
  SlotTime slot_;
};

// Brings what a step came to, which the last stage of each replica knows, to all devices.
StepResult SharedResult(Context& context, StepResult result, const StepParts& parts,
                        const PipelineStage& stage, const StageLinks& links) {
  if (!parts.more_outputs.empty()) result.outputs.resize(parts.more_outputs.size() + 1);
  std::vector<double> numbers(2 + 2 * result.outputs.size());
  if (stage.is_last()) {
    numbers[0] = result.loss;
    numbers[1] = static_cast<double>(result.correct);
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      numbers[2 + 2 * i] = result.outputs[i].loss;
      numbers[3 + 2 * i] = static_cast<double>(result.outputs[i].correct);
    }
  }
  const CommBuffer buffer = {
      .data = numbers.data(), .count = std::ssize(numbers), .dtype = DType::kF64};
  context.Launch({OperationKind::kCommunication, buffer.bytes()}, [&](Backend&, void*) {
    links.pipeline->AllReduce(buffer, "loss");
    links.data->AllReduce(buffer, "loss");
  });
  result.loss = numbers[0];
  result.correct = static_cast<std::int64_t>(numbers[1]);
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    result.outputs[i] = {numbers[2 + 2 * i], static_cast<std::int64_t>(numbers[3 + 2 * i])};
  }
  return result;
}

void SetStep(const Context& context, const StageLinks& links) {
  for (Communicator* group : {links.pipeline, links.data}) {
    if (group != nullptr) group->set_step(context.step() + 1);
  }
}

// While it lives, values that replicas share come from those that hold them.
class GatherScope {
 public:
  GatherScope(Context& context, const PipelineStage& stage, ReplicaExchange& exchange)
      : store_(stage.shards.stage >= 3 ? &context.parameters() : nullptr) {
    if (store_ == nullptr) return;
    store_->set_gather(
        [&exchange](const Parameter& parameter, const Tensor& value, std::int64_t holder) {
          exchange.Broadcast(value, holder, parameter.path);
        });
  }
  GatherScope(const GatherScope&) = delete;
  GatherScope& operator=(const GatherScope&) = delete;
  ~GatherScope() {
    if (store_ != nullptr) store_->set_gather({});
  }

 private:
  ParameterStore* store_;  // null where this device holds all values
};

// While it lives, what becomes final in the backward pass is summed over the replicas.
class SumsInBackward {
 public:
  SumsInBackward(Context& context, const PipelineStage& stage, GradientBuckets& buckets)
      : context_(context), active_(stage.data_count > 1) {
    if (active_) context_.set_after_backward([&buckets](Context&) { buckets.TakeFinal(); });
  }
  SumsInBackward(const SumsInBackward&) = delete;
  SumsInBackward& operator=(const SumsInBackward&) = delete;
  ~SumsInBackward() {
    if (active_) context_.set_after_backward({});
  }

 private:
  Context& context_;
  bool active_;
};

using Passes = std::map<std::int64_t, Pass>;  // by micro-batch, between forward and backward

std::size_t FreeLane(const Passes& passes) {
  std::size_t lane = 0;
  while (std::ranges::any_of(passes, [&](const auto& one) { return one.second.lane == lane; })) {
    ++lane;
  }
  return lane;
}

void RunSlot(Context& context, StageRun& run, const PipelineSlot& slot, const MicroBatch& micro,
             Passes& passes) {
  if (slot.kind == SlotKind::kForward) {
    const std::size_t lane = FreeLane(passes);
    Pass& pass = passes[slot.micro_batch];
    pass.lane = lane;
    BeginForward(context, lane);
    return run.Forward(micro, pass, &pass.tape);
  }
  Pass& pass = passes[slot.micro_batch];
  if (slot.kind == SlotKind::kWeightGradient) {
    run.WeightGradients(pass);
  } else {
    const bool later = slot.kind == SlotKind::kInputGradient;
    const DeferScope weights(context, Deferred::kWeights, later ? &pass.weights : nullptr);
    run.Backward(micro, pass);
    if (later) return;
  }
  passes.erase(slot.micro_batch);
}

// Runs the slots of a step. Returns what they came to.
StepResult RunSlots(Context& context, const StepParts& parts, const PipelineStage& stage,
                    const StageLinks& links, const DataSource* source,
                    std::span<const std::int64_t> samples, ReductionGroups& groups) {
  const std::int64_t in_group = stage.micro_batches / parts.reduction_groups;
  const auto batch = static_cast<std::int64_t>(samples.size());
  StageRun run(context, parts, stage, links, source);
  Passes passes;
  for (const PipelineSlot& slot : stage.slots) {
    const std::int64_t number = stage.data_index * stage.micro_batches + slot.micro_batch;
    const auto [begin, count] = MicroBatchAt(batch, parts.micro_batches, number);
    if (count == 0) continue;
    const MicroBatch micro = {.samples = samples.subspan(static_cast<std::size_t>(begin),
                                                         static_cast<std::size_t>(count)),
                              .share = static_cast<double>(count) / static_cast<double>(batch),
                              .group = static_cast<std::size_t>(slot.micro_batch / in_group)};
    const MicroBatchScope part(context, number);
    const bool makes_gradients = slot.kind != SlotKind::kForward || stage.is_last();
    if (makes_gradients && slot.kind != SlotKind::kWeightGradient) groups.Begin(slot.micro_batch);
    RunSlot(context, run, slot, micro, passes);
    if (links.slots != nullptr) links.slots->push_back(run.slot());
  }
  run.Drain();
  return run.result();
}

}  // namespace

StepResult TrainStage(Context& context, const StepParts& parts, const PipelineStage& stage,
                      const StageLinks& links, const Optimizer& optimizer, const DataSource* source,
                      std::span<const std::int64_t> samples) {
  context.set_training(true);
  context.parameters().ClearGradients();
  SetStep(context, links);
  const UpdatesInBackward updates(context, parts, optimizer);
  ReplicaExchange exchange(context, stage, links);
  ReductionGroups groups(context, parts, stage.micro_batches);
  DeferredGradients shared;
  const bool waits = !stage.shared.empty() && !groups.tables_apart();
  const DeferScope sharing(context, Deferred::kSharedTables, waits ? &shared : nullptr);
  const bool each_has_samples = std::ssize(samples) >= parts.micro_batches;
  GradientBuckets buckets(context, parts, stage, exchange, each_has_samples);
  ReplicaStatistics statistics(context, stage);
  StepResult result;
  {
    const SumsInBackward sums(context, stage, buckets);
    const GatherScope gathering(context, stage, exchange);
    result = RunSlots(context, parts, stage, links, source, samples, groups);
  }
  StageUpdate update(context, parts, stage, links, exchange, optimizer);
  groups.End();
  update.GatherShared();
  shared.Run(context);
  if (stage.data_count > 1) {
    buckets.Finish();
    statistics.Move(exchange, std::ssize(samples));
  }
  result = SharedResult(context, result, parts, stage, links);
  result.gradient_norm = update.Run();
  return result;
}

StepResult EvaluateStage(Context& context, const StepParts& parts, const PipelineStage& stage,
                         const StageLinks& links, const DataSource* source,
                         std::span<const std::int64_t> samples) {
  context.set_training(false);
  SetStep(context, links);
  ReplicaExchange exchange(context, stage, links);
  const GatherScope gathering(context, stage, exchange);
  StageRun run(context, parts, stage, links, source);
  Pass pass;
  run.Forward({.samples = samples}, pass, nullptr);
  run.Drain();
  return run.result();
}

void PredictStage(Context& context, const StepParts& parts, const PipelineStage& stage,
                  const StageLinks& links, std::span<const InputValues> inputs, std::int64_t count,
                  PredictedValues& outputs) {
  context.set_training(false);
  SetStep(context, links);
  const TapeScope scope(context, nullptr);
  ReplicaExchange exchange(context, stage, links);
  const GatherScope gathering(context, stage, exchange);
  StageRun run(context, parts, stage, links, nullptr);
  Pass pass;
  VarTuple vars = stage.is_first() ? InputsFrom(context, parts, inputs, count)
                                   : run.Receive(count, pass, nullptr);
  parts.network(context, vars);
  if (stage.is_last()) {
    CopyOutputs(context, OutputsAmong(parts, std::exchange(vars, {})), outputs);
  } else {
    run.Send(count, std::move(vars), pass);
  }
  run.Drain();
}

}  // namespace frugal
