// This file holds what snapshots take of a device, and give it.
#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "builders/execute/local_executor.h"
#include "builders/setup/snapshot_staging.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

constexpr std::int64_t kCopiedAtATime = 1 << 20;

StateTensor ViewOf(std::string name, const Tensor& tensor) {
  return {.name = std::move(name),
          .shape = tensor.shape(),
          .dtype = tensor.dtype(),
          .bytes = {static_cast<const std::byte*>(tensor.raw()),
                    static_cast<std::size_t>(tensor.bytes())}};
}

void CopyBytes(std::span<const std::byte> from, std::byte* to) {
  ParallelFor(std::ssize(from), kCopiedAtATime, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
  });
}

// Copies are planned for all that a training makes; more would be a mistake of ours.
[[noreturn]] void RefuseStaging(const std::string& name) {
  throw std::logic_error("the memory that is planned for snapshots has no room for " + name);
}

}  // namespace

std::vector<StateTensor> LocalExecutor::StateTensors() {
  std::vector<StateTensor> tensors;
  for (const Parameter* parameter : planned_.parameters) {
    if (!WritesStateOf(planned_, *parameter)) continue;
    store_.Materialize(*parameter);
    tensors.push_back(ViewOf(ValueName(parameter->path), store_.Value(*parameter)));
    for (std::size_t i = 0; i < ParameterStore::kStateCount; ++i) {
      const Tensor state = store_.StateIfThere(*parameter, i);
      if (state) tensors.push_back(ViewOf(StateName(parameter->path, i), state));
    }
  }
  return tensors;
}

std::vector<StateTensor> LocalExecutor::StagedState() {
  const MostThreadsScope threads(threads_);
  std::set<std::string> fixed;
  for (const Parameter* parameter : planned_.parameters) {
    if (!Changes(*parameter)) fixed.insert(ValueName(parameter->path));
  }
  std::vector<StateTensor> tensors = StateTensors();
  std::int64_t at = 0;
  for (StateTensor& tensor : tensors) {
    if (fixed.contains(tensor.name)) continue;
    std::byte* to = static_cast<std::byte*>(staging_.raw()) + at;
    at += std::ssize(tensor.bytes);
    if (at > staging_.bytes()) RefuseStaging(tensor.name);
    CopyBytes(tensor.bytes, to);
    tensor.bytes = {to, tensor.bytes.size()};
  }
  return tensors;
}

void LocalExecutor::KeepBuffers() {
  updates_before_ = store_.updates();
  buffers_kept_ = planned_.config.snapshots.directory && planned_.config.snapshots.on_exit;
  if (!kept_buffers_) return;
  auto* to = static_cast<std::byte*>(kept_buffers_.raw());
  for (const Parameter* parameter : planned_.parameters) {
    if (!parameter->is_buffer) continue;
    const Tensor value = store_.Value(*parameter);
    std::memcpy(to, value.raw(), static_cast<std::size_t>(value.bytes()));
    to += value.bytes();
  }
}

bool LocalExecutor::UndoStep() {
  if (store_.updates() != updates_before_ || !buffers_kept_) return false;
  const auto* from = static_cast<const std::byte*>(kept_buffers_.raw());
  for (const Parameter* parameter : planned_.parameters) {
    if (!parameter->is_buffer) continue;
    const Tensor value = store_.Value(*parameter);
    std::memcpy(value.raw(), from, static_cast<std::size_t>(value.bytes()));
    from += value.bytes();
  }
  return true;
}

void LocalExecutor::LoadState(const StateFiles& state) {
  const std::set<const Parameter*> own(planned_.parameters.begin(), planned_.parameters.end());
  const auto updates = [&](const Parameter& parameter) {
    return own.contains(&parameter) && parameter.trainable &&
           (!planned_.stage || planned_.stage->stage.shards.Updates(parameter));
  };
  // All of it is looked at before any of it is taken.
  for (const bool is_check : {true, false}) {
    for (const Parameter* parameter : HeldParameters()) {
      if (!store_.HoldsValue(*parameter)) continue;
      const std::size_t states = updates(*parameter) ? planned_.optimizer->StateCount() : 0;
      LoadParameter(state, *parameter, states, is_check);
    }
  }
}

void LocalExecutor::LoadParameter(const StateFiles& state, const Parameter& parameter,
                                  std::size_t states, bool is_check) {
  const DType dtype = MasterType(planned_.dtype());
  const OptimizerOptions& options = planned_.config.optimizer;
  state.Require(ValueName(parameter.path), {dtype, parameter.shape});
  if (!is_check) {
    store_.Materialize(parameter);
    state.Read(ValueName(parameter.path), store_.Value(parameter));
    store_.Repack(parameter, *planned_.backend);
  }
  for (std::size_t i = 0; i < ParameterStore::kStateCount; ++i) {
    const bool is_average = i == ParameterStore::kAverage;
    const bool has = is_average ? parameter.trainable && options.ema_decay > 0 : i < states;
    const std::string name = StateName(parameter.path, i);
    const bool loads = has && state.Find(name) != nullptr;
    const StateForm form = is_average ? StateForm{dtype, parameter.shape}
                                      : FormOf(options.state, parameter.shape, dtype);
    if (loads) state.Require(name, form);
    if (is_check) continue;
    if (loads) {
      state.Read(name, store_.State(parameter, i, form.dtype, form.shape, *planned_.backend));
    } else {
      store_.DropState(parameter, i);
    }
  }
}

}  // namespace frugal
