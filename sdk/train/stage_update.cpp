#include "sdk/train/stage_update.h"

#include <algorithm>
#include <vector>

#include "sdk/module/parameter_store.h"
#include "sdk/train/step_pieces.h"

namespace frugal {

void StageUpdate::GatherShared() {
  for (const SharedParameter& shared : stage_.shared) GatherShared(shared);
}

double StageUpdate::Run() {
  const double norm = Norm();
  RequireFinite(context_, parts_, "the norm of the gradients", norm);
  optimizer_.Step(context_, Updated(), norm);
  for (const Parameter* parameter : parts_.parameters) SpreadUpdated(*parameter);
  for (const SharedParameter& shared : stage_.shared) SpreadShared(shared);
  return norm;
}

// Returns those whose state this replica has.
std::vector<Parameter*> StageUpdate::Updated() const {
  std::vector<Parameter*> updated;
  for (Parameter* parameter : parts_.parameters) {
    if (stage_.shards.Updates(*parameter)) updated.push_back(parameter);
  }
  return updated;
}

// Brings a new value to every replica that holds one.
void StageUpdate::SpreadUpdated(const Parameter& parameter) {
  const std::int64_t holder = stage_.shards.HolderOf(parameter);
  const bool all_hold = holder == ParameterShards::kEveryReplica || stage_.shards.stage >= 3;
  if (all_hold || !parameter.trainable) return;
  ParameterStore& store = context_.parameters();
  const bool is_own = holder == stage_.data_index;
  const Tensor value = is_own ? store.Value(parameter) : store.ValueToReplace(parameter);
  exchange_.Broadcast(value, holder, parameter.path);
  if (is_own) return;
  store.KeepValue(parameter, value);
  optimizer_.FollowUpdate(context_, parameter, value);
}

// The owner adds what the others have, the last stage first.
void StageUpdate::GatherShared(const SharedParameter& shared) {
  ParameterStore& store = context_.parameters();
  const LabelScope label(context_, shared.parameter->path);
  if (!shared.parameter->trainable) return;
  if (!owns(shared)) {
    const Tensor gradient = GradientOrNone(context_, *shared.parameter);
    context_.Launch({OperationKind::kCommunication, gradient.bytes()}, [&](Backend&, void*) {
      links_.pipeline->Send(BufferOf(gradient), owner(shared), shared.parameter->path);
    });
    return;
  }
  for (std::size_t i = shared.stages.size() - 1; i > 0; --i) {
    const GradientTarget target = store.GradientFor(*shared.parameter);
    const Tensor part = context_.Allocate(target.tensor.shape(), target.tensor.dtype());
    const auto from = static_cast<int>(shared.stages[i]);
    context_.Launch({OperationKind::kCommunication, part.bytes()}, [&](Backend&, void*) {
      links_.pipeline->Receive(BufferOf(part), from, shared.parameter->path);
    });
    context_.Launch({OperationKind::kElementwise, 3 * part.bytes()}, [&](Backend& backend, void*) {
      if (target.accumulate) {
        backend.elementwise().Add(part, target.tensor, target.tensor);
      } else {
        backend.elementwise().Copy(part, target.tensor);
      }
    });
  }
}

void StageUpdate::SpreadShared(const SharedParameter& shared) {
  if (!shared.parameter->trainable) return;
  ParameterStore& store = context_.parameters();
  const Tensor value =
      owns(shared) ? store.Value(*shared.parameter) : store.ValueToReplace(*shared.parameter);
  for (std::size_t i = 1; i < shared.stages.size(); ++i) {
    const auto to = static_cast<int>(shared.stages[i]);
    if (!owns(shared) && to != stage_.index) continue;
    context_.Launch({OperationKind::kCommunication, value.bytes()}, [&](Backend&, void*) {
      if (owns(shared)) {
        links_.pipeline->Send(BufferOf(value), to, shared.parameter->path);
      } else {
        links_.pipeline->Receive(BufferOf(value), owner(shared), shared.parameter->path);
      }
    });
  }
  if (owns(shared)) return;
  store.KeepValue(*shared.parameter, value);
  optimizer_.FollowUpdate(context_, *shared.parameter, value);
}

// Every device knows the squares of what it updates; they are added in the order of all.
double StageUpdate::Norm() {
  if (!optimizer_.clips()) return 0;
  const std::vector<Parameter*> updated = Updated();
  const std::vector<double> own = optimizer_.SquaresOf(context_, updated);
  const Tensor all = context_.Allocate({stage_.parameters}, DType::kF64, MemoryTag::kWorkspace);
  double norm = 0;
  context_.Launch({OperationKind::kCommunication, all.bytes()}, [&](Backend&, void*) {
    const std::span<double> squares = all.values<double>();
    std::ranges::fill(squares, 0.0);
    for (std::size_t i = 0; i < own.size(); ++i) {
      squares[static_cast<std::size_t>(updated[i]->index)] = own[i];
    }
    links_.pipeline->AllReduce(BufferOf(all), "squares of gradients");
  });
  if (stage_.shards.stage > 0) exchange_.Sum(all, "squares of gradients");
  context_.Launch({OperationKind::kOptimizer, all.bytes()},
                  [&](Backend&, void*) { norm = Optimizer::NormOf(all.values<double>()); });
  return norm;
}

}  // namespace frugal
