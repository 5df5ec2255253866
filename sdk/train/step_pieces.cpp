#include "sdk/train/step_pieces.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/module/parameter_store.h"
#include "sdk/ops/scalar.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

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

// Returns the network's outputs.
VarTuple RunNetwork(Context& context, const StepParts& parts, VarTuple vars) {
  if (ProjectionForLoss(context, parts)) {
    const Var input = std::exchange(vars[0], Var());
    return {parts.network.RunUpToProjection(context, input)};
  }
  parts.network(context, vars);
  return OutputsAmong(parts, std::move(vars));
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

// Adds the second of each pair to the first.
void AddSums(Context& context, const std::vector<ParameterStore::GroupSum>& sums) {
  for (const ParameterStore::GroupSum& sum : sums) {
    context.Launch({OperationKind::kElementwise, BytesOf(sum.earlier, sum.gradient, sum.earlier)},
                   [&](Backend& backend, void*) {
                     backend.elementwise().Add(sum.earlier, sum.gradient, sum.earlier);
                   });
  }
}

}  // namespace

Batch ReadInputs(Context& context, const StepParts& parts, const DataSource* source,
                 std::span<const std::int64_t> samples) {
  Batch batch = ReadBatch(context, parts.layout, parts.reads, source, samples);
  if (parts.diffusion != nullptr) parts.diffusion->Noise(context, parts.inputs, samples, batch);
  ToActivations(context, parts.inputs, batch.inputs);
  return batch;
}

Evaluated RunForward(Context& context, const StepParts& parts, Batch batch, double share) {
  const VarTuple outputs = RunNetwork(context, parts, std::exchange(batch.inputs, {}));
  if (parts.diffusion != nullptr) CheckPrediction(outputs[0], batch.targets);
  LossOfBatch loss = RunLoss(context, parts, outputs, batch, share);
  Evaluated evaluated;
  evaluated.loss = std::move(loss.loss);
  evaluated.result.correct = loss.outputs[0].correct;
  evaluated.result.loss = ScalarOf(context, evaluated.loss.value);
  for (const OutputLoss& output : loss.outputs) {
    if (parts.more_outputs.empty()) break;
    evaluated.result.outputs.push_back({ScalarOf(context, output.loss.value), output.correct});
  }
  if (parts.needs_outputs && !context.training()) {
    context.Launch({OperationKind::kData, BytesOf(outputs[0].value, batch.targets)},
                   [&](Backend&, void*) {
                     (*parts.outputs)(outputs[0].value, batch.targets, evaluated.result.loss);
                   });
  }
  return evaluated;
}

void RunBackward(Context& context, Tape& tape, int loss_slot, double seed) {
  const LabelScope label(context, "loss");
  const Tensor start = context.Allocate({1}, context.master_dtype());
  context.Launch({OperationKind::kLoss, BytesOf(start)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(start, seed); });
  tape.Backward(context, loss_slot, start);
}

UpdatesInBackward::UpdatesInBackward(Context& context, const StepParts& parts,
                                     const Optimizer& optimizer)
    : context_(context), active_(!parts.final_after.empty()) {
  if (!active_) return;
  context.set_after_backward([&parts, &optimizer](Context& ctx) {
    for (const std::size_t index : ctx.parameters().TakeFinal(parts.final_after)) {
      // A device that holds some of the parameters has them in their order too.
      const auto found = std::ranges::lower_bound(parts.parameters, index, {}, &Parameter::index);
      JoinTable(ctx, **found);
      optimizer.StepOne(ctx, **found);
      ctx.parameters().FreeGradient(**found);
    }
  });
}

UpdatesInBackward::~UpdatesInBackward() {
  context_.set_after_backward({});
  if (active_) context_.parameters().FreeGradients();  // also where a step ends in an error
}

void RequireFinite(const Context& context, const StepParts& parts, const std::string& what,
                   double value) {
  if (parts.on_divergence == DivergencePolicy::kWarn || std::isfinite(value)) return;
  throw Diverged(what + " of step " + std::to_string(context.step() + 1) + " is " +
                 NonFiniteText(value));
}

MicroBatchRange MicroBatchAt(std::int64_t batch, std::int64_t parts, std::int64_t index) {
  // The first parts have a sample more than the others, which may have none.
  return {.begin = index * (batch / parts) + std::min(index, batch % parts),
          .count = MicroBatchSize(batch, parts, index)};
}

VarTuple InputsFrom(Context& context, const StepParts& parts, std::span<const InputValues> inputs,
                    std::int64_t count) {
  VarTuple vars = AllocateInputs(context, parts.inputs, count);
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const Tensor& x = vars[i].value;
    context.Launch({OperationKind::kData, BytesOf(x)},
                   [&](Backend&, void*) { CopyInto(inputs[i], x); });
  }
  ToActivations(context, parts.inputs, vars);
  return vars;
}

void CopyOutputs(Context& context, VarTuple vars, PredictedValues& outputs) {
  outputs.resize(vars.size());
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const Var y = CastToF32(context, std::exchange(vars[i], Var()));
    context.Launch({OperationKind::kData, BytesOf(y.value)},
                   [&](Backend&, void*) { CopyFrom(y.value, outputs[i]); });
  }
}

void JoinTable(Context& context, const Parameter& parameter) {
  if (parameter.aliases.empty()) return;  // its gradient is one sum
  const LabelScope label(context, parameter.path);
  AddSums(context, context.parameters().JoinTable(parameter));
}

Tensor GradientOrNone(Context& context, const Parameter& parameter) {
  ParameterStore& store = context.parameters();
  if (Tensor gradient = store.Gradient(parameter)) return gradient;
  Tensor none = store.GradientFor(parameter).tensor;
  // Whatever -0 is added to stays as it is, zeros with their signs.
  context.Launch({OperationKind::kElementwise, none.bytes()},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(none, -0.0); });
  return none;
}

ReductionGroups::ReductionGroups(Context& context, const StepParts& parts, std::int64_t count)
    : context_(context), in_group_(count / parts.reduction_groups) {
  context.parameters().set_tables_apart(tables_apart());
}

void ReductionGroups::Begin(std::int64_t micro_batch) {
  const std::int64_t group = micro_batch / in_group_;
  if (group != group_) EndGroup();
  group_ = group;
}

void ReductionGroups::EndGroup() {
  const LabelScope label(context_, "gradients of groups");
  AddSums(context_, context_.parameters().JoinTables());
  AddSums(context_, context_.parameters().EndGradientGroup());
}

void ReductionGroups::End() {
  if (group_ == 0) return AddSums(context_, context_.parameters().JoinTables());
  EndGroup();
  context_.parameters().JoinGradientGroups();
}

}  // namespace frugal
