#include "builders/setup/boundary_table.h"

#include <algorithm>
#include <utility>

#include "builders/setup/dry_environment.h"
#include "sdk/train/step_parts.h"

namespace frugal {

// Holds the dry pass through one layer, which gets its inputs and gives its outputs as a stage
// does.
struct BoundaryTable::Pass {
  DryEnvironment environment;
  Tape tape;
  std::vector<int> inputs;  // slots
  VarTuple outputs;

  Pass(Backend& backend, DType dtype) : environment(backend, dtype) {
    environment.context().set_training(true);
  }
};

namespace {

StageBoundary BoundaryOf(const VarTuple& vars) {
  StageBoundary boundary;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const Var& var = vars[i];
    StageVariable variable{.shape = var.shape(),
                           .dtype = var.dtype(),
                           .is_skip = var.is_skip,
                           .has_slot = var.needs_gradient()};
    for (std::size_t j = 0; j < i && variable.same_as < 0; ++j) {
      const bool same = var.needs_gradient() ? vars[j].slot == var.slot
                                             : vars[j].value.SharesStorageWith(var.value) &&
                                                   vars[j].shape() == var.shape();
      if (same) variable.same_as = static_cast<std::int64_t>(j);
    }
    boundary.push_back(variable);
  }
  return boundary;
}

}  // namespace

const StageBoundary& BoundaryTable::Behind(std::size_t layer, std::int64_t samples) {
  return MeasuredWith(samples).behind[layer];
}

const std::set<std::size_t>& BoundaryTable::ParametersOf(std::size_t layer) {
  if (measured_.empty()) MeasuredWith(1);
  return measured_.begin()->second.parameters[layer];
}

const BoundaryTable::Measured& BoundaryTable::MeasuredWith(std::int64_t samples) {
  const auto found = measured_.find(samples);
  if (found != measured_.end()) return found->second;
  return measured_.emplace(samples, Measure(samples)).first->second;
}

void BoundaryTable::RunLayer(std::size_t layer, std::int64_t samples, const StageBoundary* before,
                             Pass& pass) const {
  Context& context = pass.environment.context();
  const TapeScope scope(context, &pass.tape);
  VarTuple vars;
  if (before != nullptr) {
    vars = InputsBehind(*before, context, &pass.tape, &pass.inputs);
  } else {
    for (const NetworkInput& input : network_.inputs) {
      vars.push_back({context.Allocate(BatchShape(input, samples), TypeOf(input, network_.dtype))});
    }
  }
  if (layer + 1 < network_.layers.size()) {
    (*network_.layers[layer])(context, vars);
    pass.outputs = std::move(vars);
    return;
  }
  const StepParts parts{.network = *network_.layers[layer],
                        .parameters = network_.parameters,
                        .loss = network_.loss,
                        .layout = network_.layout,
                        .inputs = network_.inputs,
                        .more_outputs = network_.more_outputs,
                        .diffusion = network_.diffusion};
  VarTuple outputs;
  if (ProjectionForLoss(parts)) {
    outputs = {network_.layers[layer]->RunUpToProjection(context, std::exchange(vars[0], Var()))};
  } else {
    (*network_.layers[layer])(context, vars);
    outputs = OutputsAmong(parts, std::move(vars));
  }
  const Batch batch = AllocateTargets(context, parts, samples);
  pass.outputs = {frugal::RunLoss(context, parts, outputs, batch).loss};
}

BoundaryTable::Measured BoundaryTable::Measure(std::int64_t samples) const {
  Measured measured;
  std::vector<std::unique_ptr<Pass>> passes;
  for (std::size_t i = 0; i < network_.layers.size(); ++i) {
    passes.push_back(std::make_unique<Pass>(network_.backend, network_.dtype));
    RunLayer(i, samples, i > 0 ? &measured.behind[i - 1] : nullptr, *passes[i]);
    measured.behind.push_back(BoundaryOf(passes[i]->outputs));
    std::set<std::size_t>& used = measured.parameters.emplace_back();
    for (const Parameter* parameter : network_.parameters) {
      if (passes[i]->environment.store().IsMaterialized(*parameter)) used.insert(parameter->index);
    }
  }
  // Backward tells which gradients come back.
  for (std::size_t i = network_.layers.size(); i-- > 0;) {
    Pass& pass = *passes[i];
    Context& context = pass.environment.context();
    const bool is_last = i + 1 == network_.layers.size();
    for (std::size_t k = 0; k < pass.outputs.size(); ++k) {
      const StageVariable& variable = measured.behind[i][k];
      if (variable.same_as >= 0 || !(is_last ? variable.has_slot : variable.gets_gradient))
        continue;
      pass.tape.Accumulate(context, pass.outputs[k].slot,
                           context.Allocate(variable.shape, variable.dtype));
    }
    pass.outputs.clear();
    pass.tape.Backward(context);
    for (std::size_t k = 0; k < pass.inputs.size(); ++k) {
      measured.behind[i - 1][k].gets_gradient =
          pass.inputs[k] != Var::kNoGradient && pass.tape.TakeGradient(pass.inputs[k]);
    }
    passes[i].reset();
  }
  return measured;
}

}  // namespace frugal
