// This file holds what snapshots take of several devices, and give them.
#include <algorithm>
#include <iterator>

#include "builders/execute/sharded_executor.h"

namespace frugal {

std::vector<StateTensor> ShardedExecutor::StateTensors() {
  std::vector<StateTensor> tensors;
  for (const auto& device : devices_) {
    if (device) std::ranges::move(device->StateTensors(), std::back_inserter(tensors));
  }
  return tensors;
}

std::vector<StateTensor> ShardedExecutor::HoldState() {
  std::vector<StateTensor> tensors;
  for (const auto& device : devices_) {
    if (device) std::ranges::move(device->HoldState(), std::back_inserter(tensors));
  }
  return tensors;
}

void ShardedExecutor::LoadState(const StateFiles& state) {
  for (const auto& device : devices_) {
    if (device) device->LoadState(state);
  }
}

bool ShardedExecutor::UndoStep() {
  return std::ranges::all_of(
      devices_, [](const auto& device) { return device == nullptr || device->UndoStep(); });
}

void ShardedExecutor::SetPosition(const TrainingPosition& position) {
  for (const auto& device : devices_) {
    if (device) device->SetPosition(position);
  }
}

}  // namespace frugal
