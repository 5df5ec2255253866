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

StateTensor ViewOf(std::string name, const Tensor& tensor) {
  return {.name = std::move(name),
          .shape = tensor.shape(),
          .dtype = tensor.dtype(),
          .bytes = {static_cast<const std::byte*>(tensor.raw()),
                    static_cast<std::size_t>(tensor.bytes())}};
}

StateTensor ViewOf(std::string name, TensorPager& pager, const PagedTensor& paged) {
  return {.name = std::move(name),
          .shape = paged.shape,
          .dtype = paged.dtype,
          .read = [&pager, place = paged.place](std::int64_t offset, std::span<std::byte> part) {
            pager.ReadPart(place, offset, part);
          }};
}

// Copies are planned for all that a training makes; more would be a mistake of ours.
[[noreturn]] void RefuseStaging(const std::string& name) {
  throw std::logic_error("the memory that is planned for snapshots has no room for " + name);
}

}  // namespace

void LocalExecutor::ForEachStateTensor(
    const std::function<void(const Parameter&, StateTensor)>& take) {
  for (const Parameter* parameter : planned_.parameters) {
    if (!WritesStateOf(planned_, *parameter)) continue;
    store_.Materialize(*parameter);
    const std::string value_name = ValueName(parameter->path);
    if (const auto paged = store_.PagedValue(*parameter)) {
      take(*parameter, ViewOf(value_name, *pager_, *paged));
    } else {
      take(*parameter, ViewOf(value_name, store_.Value(*parameter)));
    }
    for (std::size_t i = 0; i < ParameterStore::kStateCount; ++i) {
      const std::string name = StateName(parameter->path, i);
      if (const auto paged = store_.PagedState(*parameter, i)) {
        take(*parameter, ViewOf(name, *pager_, *paged));
      } else if (const Tensor state = store_.ResidentState(*parameter, i)) {
        take(*parameter, ViewOf(name, state));
      }
    }
  }
}

std::vector<StateTensor> LocalExecutor::StateTensors() {
  std::vector<StateTensor> tensors;
  ForEachStateTensor(
      [&](const Parameter&, StateTensor tensor) { tensors.push_back(std::move(tensor)); });
  return tensors;
}

// Forward passes change buffers before any update, so that these are copied at once.
std::vector<StateTensor> LocalExecutor::HoldState() {
  const MostThreadsScope threads(threads_);
  const std::span room(static_cast<std::byte*>(staging_.raw()),
                       static_cast<std::size_t>(staging_.bytes()));
  held_.clear();
  std::vector<StateTensor> tensors;
  std::size_t at = 0;
  ForEachStateTensor([&](const Parameter& parameter, StateTensor tensor) {
    if (Changes(parameter)) {
      const std::size_t bytes = tensor.bytes.size();
      if (bytes > room.size() - at) RefuseStaging(tensor.name);
      tensor.held = std::make_shared<HeldTensor>(tensor.bytes, room.subspan(at, bytes));
      if (parameter.is_buffer) tensor.held->BeforeChange();
      held_[parameter.index].push_back(tensor.held);
      at += bytes;
    }
    tensors.push_back(std::move(tensor));
  });
  return tensors;
}

void LocalExecutor::BeforeChange(const Parameter& parameter) {
  const auto found = held_.find(parameter.index);
  if (found == held_.end()) return;
  for (const std::shared_ptr<HeldTensor>& tensor : found->second) tensor->BeforeChange();
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
    const Tensor value = store_.Value(parameter);
    state.Read(ValueName(parameter.path), value);
    store_.KeepValue(parameter, value);
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
      const Tensor tensor = store_.State(parameter, i, form.dtype, form.shape, *planned_.backend);
      state.Read(name, tensor);
      store_.KeepState(parameter, i, tensor);
    } else {
      store_.DropState(parameter, i);
    }
  }
}

}  // namespace frugal
