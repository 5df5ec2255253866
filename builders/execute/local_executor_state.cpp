// This file holds what snapshots take of a device, and give it.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <set>

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

}  // namespace

std::vector<StateTensor> LocalExecutor::StateTensors() {
  std::vector<StateTensor> tensors;
  for (const Parameter* parameter : planned_.parameters) {
    if (!WritesStateOf(planned_, *parameter) || !store_.IsMaterialized(*parameter)) continue;
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
    assert(at <= staging_.bytes());
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
  for (const Parameter* parameter : HeldParameters()) {
    const bool is_own =
        std::ranges::find(planned_.parameters, parameter) != planned_.parameters.end();
    const bool updates =
        is_own && (!planned_.stage || planned_.stage->stage.shards.Updates(*parameter));
    LoadParameter(state, *parameter, updates);
  }
}

void LocalExecutor::LoadParameter(const StateFiles& state, const Parameter& parameter,
                                  bool updates) {
  if (!store_.HoldsValue(parameter)) return;
  Backend& backend = *planned_.backend;
  if (state.Find(ValueName(parameter.path)) != nullptr) {
    store_.Materialize(parameter);
    state.Read(ValueName(parameter.path), store_.Value(parameter));
    store_.Repack(parameter, backend);
  }
  const StateForm form =
      FormOf(planned_.config.optimizer.state, parameter.shape, MasterType(planned_.dtype()));
  for (std::size_t i = 0; i < ParameterStore::kStateCount; ++i) {
    const std::string name = StateName(parameter.path, i);
    const bool is_average = i == ParameterStore::kAverage;
    if (state.Find(name) == nullptr || !(updates || is_average)) continue;
    state.Read(name, is_average ? store_.State(parameter, i, backend)
                                : store_.State(parameter, i, form.dtype, form.shape, backend));
  }
}

}  // namespace frugal
