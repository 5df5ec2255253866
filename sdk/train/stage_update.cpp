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
  if (stage_.data_count > 1) {
    for (const Parameter* parameter : parts_.parameters) ReduceOverReplicas(*parameter);
  }
  const double norm = Norm();
  RequireFinite(context_, parts_, "the norm of the gradients", norm);
  if (stage_.updated_by.empty()) {
    optimizer_.Step(context_, parts_.parameters, norm);
  } else {
    UpdateOwnPart(norm);
  }
  for (const SharedParameter& shared : stage_.shared) SpreadShared(shared);
  return norm;
}

// The owner adds what the others have, the last stage first.
void StageUpdate::GatherShared(const SharedParameter& shared) {
  ParameterStore& store = context_.parameters();
  const LabelScope label(context_, shared.parameter->path);
  if (!shared.parameter->trainable) return;
  if (!owns(shared)) {
    const Tensor gradient = store.Gradient(*shared.parameter);
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
  const Tensor value = context_.parameters().Value(*shared.parameter);
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
  if (!owns(shared)) optimizer_.FollowUpdate(context_, *shared.parameter);
}

// Updates what this replica has the state of, and brings the values of all to every replica.
void StageUpdate::UpdateOwnPart(double norm) {
  std::vector<Parameter*> own;
  for (std::size_t i = 0; i < parts_.parameters.size(); ++i) {
    if (stage_.updated_by[i] == stage_.data_index) own.push_back(parts_.parameters[i]);
  }
  optimizer_.Step(context_, own, norm);
  for (std::size_t i = 0; i < parts_.parameters.size(); ++i) {
    const Parameter& parameter = *parts_.parameters[i];
    if (!parameter.trainable) continue;
    const Tensor value = context_.parameters().Value(parameter);
    const auto from = static_cast<int>(stage_.updated_by[i]);
    context_.Launch({OperationKind::kCommunication, value.bytes()}, [&](Backend&, void*) {
      links_.data->Broadcast(BufferOf(value), from, parameter.path);
    });
    if (from != stage_.data_index) optimizer_.FollowUpdate(context_, parameter);
  }
}

void StageUpdate::ReduceOverReplicas(const Parameter& parameter) {
  const Tensor gradient = context_.parameters().Gradient(parameter);
  if (!gradient) return;
  context_.Launch({OperationKind::kCommunication, 2 * gradient.bytes()}, [&](Backend&, void*) {
    links_.data->AllReduce(BufferOf(gradient), parameter.path);
  });
}

// Every stage knows the squares of its own parameters; they are added in the order of all.
double StageUpdate::Norm() {
  if (!optimizer_.clips()) return 0;
  const std::vector<double> own = optimizer_.SquaresOf(context_, parts_.parameters);
  const Tensor all = context_.Allocate({stage_.parameters}, DType::kF64, MemoryTag::kWorkspace);
  double norm = 0;
  context_.Launch({OperationKind::kCommunication, all.bytes()}, [&](Backend&, void*) {
    const std::span<double> squares = all.values<double>();
    std::ranges::fill(squares, 0.0);
    for (std::size_t i = 0; i < own.size(); ++i) {
      squares[static_cast<std::size_t>(parts_.parameters[i]->index)] = own[i];
    }
    links_.pipeline->AllReduce(BufferOf(all), "squares of gradients");
    norm = Optimizer::NormOf(squares);
  });
  return norm;
}

}  // namespace frugal
