// The calls of TrainingMemoryManager for several devices.
#include <cstring>
#include <utility>

#include "builders/dry_run/saved_bytes.h"
#include "builders/training_memory/manager_checks.h"
#include "builders/training_memory/manager_memory.h"
#include "builders/training_memory_manager.h"
#include "sdk/core/error.h"
#include "sdk/optim/optimizer.h"

namespace frugal {
namespace {

// Brings a tensor into a device's memory.
Tensor CopyTo(TrainingMemoryManager& device, const Tensor& tensor) {
  Tensor copy = device.RentTensor(tensor.shape(), tensor.dtype());
  std::memcpy(copy.raw(), tensor.raw(), static_cast<std::size_t>(tensor.bytes()));
  return copy;
}

// Bytes that belong to a layer while it trains: values, gradients and what it keeps for backward.
std::int64_t BytesOfLayer(Layer& layer, const SavedBytes& kept, DType master) {
  const auto saved = kept.find(layer.path());
  return 2 * layer.ParameterCount() * SizeOf(master) + (saved == kept.end() ? 0 : saved->second);
}

}  // namespace

void TrainingMemoryManager::RequireSharding(const std::string& where) const {
  if (!ShardingEnabled()) {
    throw UsageError({.where = where,
                      .required = "sharding is on",
                      .given = "num_devices = 1",
                      .advice = "set num_devices, or use ForwardWithCheckpointing"});
  }
  if (!layers_.empty()) return;
  throw UsageError({.where = where,
                    .required = "the manager knows the layers that it spreads over devices",
                    .given = "it was made without layers",
                    .advice = "give them to its constructor, behind the configuration"});
}

Placement TrainingMemoryManager::PlacementOf(const VarTuple& inputs) {
  const std::int64_t layers = std::ssize(layers_);
  switch (config_.sharding_strategy) {
    case ShardingStrategy::kEvenSplit:
      return EvenSplit(layers, config_.num_devices);
    case ShardingStrategy::kMemoryBalanced: {
      const SavedBytes kept = MeasureSavedBytes(DryPassOf(inputs), layers_);
      const auto bytes = [&](std::int64_t, const LayerRange& range) {
        std::int64_t sum = 0;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          sum += BytesOfLayer(*layers_[static_cast<std::size_t>(i)], kept, store_->dtype());
        }
        return sum;
      };
      return MemoryBalanced(layers, config_.num_devices, bytes);
    }
    case ShardingStrategy::kCustom:
      break;
  }
  return CustomPlacement(layers, config_.num_devices, *config_.custom_device_assignments);
}

void TrainingMemoryManager::Place(const VarTuple& inputs) {
  registry_.Adopt(layers_);  // so that names and numbers are those of one device
  placement_ = PlacementOf(inputs);
  TrainingMemoryConfig of_one = config_;
  of_one.num_devices = 1;
  of_one.sharding_strategy = ShardingStrategy::kEvenSplit;
  of_one.custom_device_assignments.reset();
  for (std::size_t i = 1; i < placement_.size(); ++i) {
    others_.push_back(std::make_unique<TrainingMemoryManager>(of_one, options_));
  }
}

TrainingMemoryManager& TrainingMemoryManager::Device(std::size_t number) {
  return number == 0 ? *this : *others_[number - 1];
}

LayerPointers TrainingMemoryManager::LayersOn(std::size_t device) const {
  const LayerRange& range = placement_[device];
  return {layers_.begin() + range.begin, layers_.begin() + range.end};
}

std::int64_t TrainingMemoryManager::DeviceOf(std::size_t layer) const {
  RequireSharding("DeviceOf");
  for (std::size_t i = 0; i < placement_.size(); ++i) {
    const auto number = static_cast<std::int64_t>(layer);
    if (placement_[i].begin <= number && number < placement_[i].end) {
      return static_cast<std::int64_t>(i);
    }
  }
  throw UsageError(
      {.where = "DeviceOf",
       .required = "a layer of the manager, behind its first ShardedForward",
       .given = "layer " + std::to_string(layer) + " of " + std::to_string(layers_.size()),
       .advice = {}});
}

Tensor TrainingMemoryManager::RunSharded(const Tensor& input, const Tensor* conditioning) {
  RequireSharding("ShardedForward");
  CheckManagerInput("ShardedForward", input, context_->dtype());
  if (conditioning != nullptr) {
    CheckManagerInput("ShardedForward", *conditioning, context_->dtype());
  }
  if (placement_.empty()) {
    VarTuple inputs = {{input, 0}};
    if (conditioning != nullptr) inputs.push_back({*conditioning});
    Place(inputs);
  }
  sharded_pass_.clear();
  Tensor x = input;
  for (std::size_t i = 0; i < placement_.size(); ++i) {
    TrainingMemoryManager& device = Device(i);
    device.context().set_training(context_->training());
    device.context().set_step(context_->step());
    device.context().set_micro_batch(context_->micro_batch());
    const Tensor own = i == 0 || conditioning == nullptr ? Tensor() : CopyTo(device, *conditioning);
    const Tensor* condition = conditioning == nullptr ? nullptr : i == 0 ? conditioning : &own;
    auto [output, state] =
        device.Forward("ShardedForward", LayersOn(i), i == 0 ? x : CopyTo(device, x), condition);
    x = std::move(output);
    sharded_pass_.push_back(std::move(state));
  }
  return x;
}

Tensor TrainingMemoryManager::ShardedForward(const Tensor& input) {
  return RunSharded(input, nullptr);
}

Tensor TrainingMemoryManager::ShardedForward(const Tensor& input, const Tensor& context) {
  return RunSharded(input, &context);
}

Tensor TrainingMemoryManager::ShardedBackward(const Tensor& output_gradient) {
  RequireSharding("ShardedBackward");
  if (sharded_pass_.empty() || !sharded_pass_.back().is_pending()) {
    throw UsageError(
        {.where = "ShardedBackward",
         .required = "a forward pass goes through backward once",
         .given = sharded_pass_.empty() ? "there was none" : "the last one has done so",
         .advice = "run ShardedForward before"});
  }
  Tensor gradient = output_gradient;
  for (std::size_t i = placement_.size(); i-- > 0;) {
    TrainingMemoryManager& device = Device(i);
    const bool is_there = i + 1 == placement_.size();
    gradient = device.BackwardWithCheckpointing(is_there ? gradient : CopyTo(device, gradient),
                                                sharded_pass_[i]);
    if (!gradient) break;  // nothing before it can be differentiated
  }
  return gradient;
}

void TrainingMemoryManager::ShardedUpdateParameters(double learning_rate) {
  RequireSharding("ShardedUpdateParameters");
  if (!(learning_rate >= 0 && learning_rate <= 1e9)) {
    throw UsageError({.where = "ShardedUpdateParameters",
                      .required = "a learning rate that is a number from 0",
                      .given = std::to_string(learning_rate),
                      .advice = {}});
  }
  if (placement_.empty()) {
    throw UsageError({.where = "ShardedUpdateParameters",
                      .required = "there are gradients",
                      .given = "no pass has run",
                      .advice = "run ShardedForward and ShardedBackward before"});
  }
  OptimizerOptions options;
  options.kind = OptimizerKind::kSgd;
  options.lr = learning_rate;
  const Optimizer optimizer(options, {}, 0, 1);
  for (std::size_t i = 0; i < placement_.size(); ++i) {
    Context& context = Device(i).context();
    optimizer.Step(context, ParametersOf(LayersOn(i)));
    context.parameters().ClearGradients();
  }
}

}  // namespace frugal
