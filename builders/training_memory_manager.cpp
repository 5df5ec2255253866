#include "builders/training_memory_manager.h"

#include <algorithm>
#include <utility>

#include "builders/memory_report/memory_report.h"
#include "builders/training_memory/manager_checks.h"
#include "builders/training_memory/manager_memory.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

std::unique_ptr<Backend> BackendOf(const TrainingMemoryConfig& config,
                                   const TrainingMemoryManagerOptions& options) {
  CheckManagerConfig(config);
  std::unique_ptr<Backend> backend = MakeBackend(options.backend);
  CheckManagerType(*backend, options.dtype);
  return backend;
}

template <class Function>
void CheckCallable(const Function& function) {
  if (function) return;
  throw UsageError({.where = "Checkpoint",
                    .required = "there is a function to run",
                    .given = "an empty one was given",
                    .advice = ""});
}

}  // namespace

TrainingMemoryManager::TrainingMemoryManager(const TrainingMemoryConfig& config,
                                             const TrainingMemoryManagerOptions& options)
    : config_(config),
      backend_(BackendOf(config, options)),
      memory_(ManagerMemory::Make(config)),
      store_(std::make_unique<ParameterStore>(
          memory_->tensors(), memory_->ledger(),
          ParameterStore::Options{.dtype = MasterType(options.dtype),
                                  .seed = options.seed,
                                  .start_at_zero = config.default_initialization_strategy ==
                                                   InitializationStrategy::kZero})),
      context_(std::make_unique<Context>(Context::Parts{.backend = *backend_,
                                                        .ledger = memory_->ledger(),
                                                        .step_memory = memory_->step(),
                                                        .parameters = *store_,
                                                        .dtype = options.dtype,
                                                        .seed = options.seed})),
      options_(options) {
  context_->set_training(true);
  if (config.default_initialization_strategy == InitializationStrategy::kFromFile) {
    store_->SetSource(StrictSource(*config.weights_file_path, config.weights_file_format));
  }
}

TrainingMemoryManager::TrainingMemoryManager(const TrainingMemoryConfig& config,
                                             LayerPointers layers,
                                             const TrainingMemoryManagerOptions& options)
    : TrainingMemoryManager(config, options) {
  layers_ = std::move(layers);
}

TrainingMemoryManager::~TrainingMemoryManager() = default;

void TrainingMemoryManager::Adopt(const LayerPointers& layers) {
  registry_.Adopt(layers);
  if (config_.default_initialization_strategy == InitializationStrategy::kLazy) return;
  for (const Parameter* parameter : ParametersOf(layers)) store_->Value(*parameter);
}

LayerChain TrainingMemoryManager::ChainOf(const LayerPointers& layers, const VarTuple& inputs,
                                          bool checkpointed) {
  CheckpointOptions options = CheckpointOptionsOf(config_);
  options.enabled = checkpointed;
  SetRecompute(layers, options);
  SavedBytes kept;
  if (options.saved_bytes_threshold) kept = MeasureSavedBytes(DryPassOf(inputs), layers);
  return {layers, RunsOf(layers, options, kept)};
}

DryPass TrainingMemoryManager::DryPassOf(const VarTuple& inputs) const {
  return {.backend = *backend_,
          .dtype = context_->dtype(),
          .training = context_->training(),
          .inputs = inputs};
}

CheckpointedForward TrainingMemoryManager::ForwardWithCheckpointing(const LayerPointers& layers,
                                                                    const Tensor& input) {
  return Forward("ForwardWithCheckpointing", layers, input, nullptr);
}

CheckpointedForward TrainingMemoryManager::Forward(const std::string& where,
                                                   const LayerPointers& layers, const Tensor& input,
                                                   const Tensor* conditioning) {
  CheckManagerInput(where, input, context_->dtype());
  Adopt(layers);
  VarTuple inputs = {{input, 0}};
  if (conditioning != nullptr) inputs.push_back({*conditioning});
  CheckpointedForward forward;
  forward.state.parts_ = std::make_unique<CheckpointState::Parts>();
  CheckpointState::Parts& parts = *forward.state.parts_;
  parts.memory = memory_;
  forward.output =
      RunForward(*context_, ChainOf(layers, inputs, CheckpointingEnabled()), inputs, parts.pass);
  return forward;
}

Tensor TrainingMemoryManager::BackwardWithCheckpointing(const Tensor& output_gradient,
                                                        CheckpointState& state) {
  const auto refuse = [](const std::string& given, const std::string& advice) {
    throw UsageError({.where = "BackwardWithCheckpointing",
                      .required = "the state of a forward pass goes through backward once",
                      .given = given,
                      .advice = advice});
  };
  if (!state.parts_) {
    refuse("this one is of no forward pass",
           "give the state that ForwardWithCheckpointing returned");
  }
  CheckpointState::Parts& parts = *state.parts_;
  if (parts.memory != memory_) {
    refuse("this one is of another manager", "give it to the manager whose forward returned it");
  }
  if (parts.used) refuse("this one has done so", "run ForwardWithCheckpointing again");
  CheckOutputGradient(output_gradient, parts.pass.output_shape, parts.pass.output_dtype);
  parts.used = true;
  return RunBackward(*context_, output_gradient, parts.pass);
}

void TrainingMemoryManager::CheckpointSequence(const LayerPointers& layers, VarTuple& vars) {
  if (vars.empty()) CheckManagerInput("CheckpointSequence", {}, context_->dtype());
  for (const Var& one : vars) {
    CheckManagerInput("CheckpointSequence", one.value, context_->dtype());
  }
  Adopt(layers);
  const LayerChain chain = ChainOf(layers, vars, CheckpointingEnabled());
  for (Var& one : vars) one = InActivationType(*context_, one);
  RunChain(*context_, chain, vars);
}

Var TrainingMemoryManager::CheckpointSequence(const LayerPointers& layers, const Var& input) {
  VarTuple vars = {input};
  CheckpointSequence(layers, vars);
  return vars.at(0);
}

Var TrainingMemoryManager::CheckpointSequence(const std::vector<SegmentFunction>& functions,
                                              const Var& input) {
  const auto each = static_cast<std::size_t>(config_.checkpoint_every_n_layers);
  Var x = input;
  for (std::size_t begin = 0; begin < functions.size(); begin += each) {
    const std::vector<SegmentFunction> run(
        functions.begin() + static_cast<std::ptrdiff_t>(begin),
        functions.begin() + static_cast<std::ptrdiff_t>(std::min(begin + each, functions.size())));
    for (const SegmentFunction& function : run) CheckCallable(function);
    x = Checkpoint(
        [run](Context& context, const Var& from) {
          Var y = from;
          for (const SegmentFunction& function : run) y = function(context, y);
          return y;
        },
        x);
  }
  return x;
}

Var TrainingMemoryManager::Checkpoint(const SegmentFunction& function, const Var& input) {
  CheckCallable(function);
  CheckManagerInput("Checkpoint", input.value, context_->dtype());
  if (!CheckpointingEnabled()) return function(*context_, input);
  return frugal::Checkpoint(*context_, input, function);
}

Var TrainingMemoryManager::Checkpoint(const SeveralInputsFunction& function,
                                      const std::vector<Var>& inputs) {
  CheckCallable(function);
  for (const Var& input : inputs) CheckManagerInput("Checkpoint", input.value, context_->dtype());
  if (!CheckpointingEnabled()) return function(*context_, inputs);
  VarTuple vars = inputs;
  frugal::Checkpoint(*context_, vars, [function](Context& context, VarTuple& inner) {
    inner = {function(context, inner)};
  });
  return vars.at(0);
}

Tensor TrainingMemoryManager::RentTensor(const Shape& shape, std::optional<DType> dtype) {
  CheckExtents("RentTensor", shape);
  const LabelScope label(*context_, "rented");
  return Tensor(memory_->rented(), shape, dtype.value_or(context_->dtype()),
                MemoryTag::kActivation);
}

void TrainingMemoryManager::ReturnTensor(Tensor& tensor) {
  const auto refuse = [](const std::string& given, const std::string& advice) {
    throw UsageError({.where = "ReturnTensor",
                      .required = "a tensor goes back once, to the manager it was rented from, "
                                  "when nothing else holds it",
                      .given = given,
                      .advice = advice});
  };
  if (!tensor) {
    refuse("an empty tensor, returned before or never rented", "return each tensor once");
  }
  if (!tensor.IsFrom(memory_->rented())) {
    refuse("a tensor " + ToString(tensor.shape()) + " that was not rented from this manager",
           "drop it: it gives itself back");
  }
  if (!tensor.IsSoleOwner()) {
    refuse("a tensor " + ToString(tensor.shape()) + " that is held in " +
               std::to_string(tensor.OwnerCount() - 1) + " more places",
           "drop its copies, and run backward, which may need it, before");
  }
  tensor = Tensor();
}

std::optional<PoolStatistics> TrainingMemoryManager::GetPoolStats() const {
  return memory_->pool_statistics();
}

MemoryEstimate TrainingMemoryManager::EstimateMemory(const LayerPointers& layers,
                                                     const Tensor& input) {
  CheckManagerInput("EstimateMemory", input, context_->dtype());
  registry_.Adopt(layers);
  const VarTuple inputs = {{input, 0}};  // whose gradient is wanted
  return EstimatePass(DryPassOf(inputs), ChainOf(layers, inputs, false),
                      ChainOf(layers, inputs, true));
}

ActivationEstimate TrainingMemoryManager::EstimateMemory(std::int64_t num_layers,
                                                         std::int64_t activation_bytes) const {
  return EstimateActivations(num_layers, config_.checkpoint_every_n_layers, activation_bytes);
}

DeviceMemoryUsage TrainingMemoryManager::UsageOf(std::int64_t device) const {
  const MemoryLedger& ledger = memory_->ledger();
  const auto pool = memory_->pool_statistics();
  const auto& most = config_.max_memory_per_device_mb;
  return {.device = device,
          .live = ledger.live(),
          .live_bytes = ledger.live_total(),
          .peak_bytes = ledger.peak_total(),
          .idle_pool_bytes = pool ? pool->idle_bytes : 0,
          .limit_bytes = most ? *most * kBytesPerMegabyte : ReadSystemMemory().LimitBytes()};
}

std::vector<DeviceMemoryUsage> TrainingMemoryManager::GetDeviceMemoryUsage() const {
  std::vector<DeviceMemoryUsage> usage = {UsageOf(0)};
  for (const auto& other : others_) usage.push_back(other->UsageOf(std::ssize(usage)));
  return usage;
}

frugal::MemoryReport TrainingMemoryManager::MemoryReport() const {
  frugal::MemoryReport report{.model = "TrainingMemoryManager", .devices = {}};
  ProcessMemory process{.resident_bytes = ResidentBytes(),
                        .peak_resident_bytes = PeakResidentBytes()};
  std::vector<const ManagerMemory*> memories = {memory_.get()};
  for (const auto& other : others_) memories.push_back(other->memory_.get());
  for (std::size_t i = 0; i < memories.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    DeviceReport device{.device = number};
    device.now = {.device = number,
                  .allocator = memories[i]->Statistics(),
                  .live = memories[i]->ledger().LargestHolders()};
    process.reserved_bytes += device.now->allocator.bytes_reserved;
    if (auto recorded = memories[i]->Recorded()) {
      device.measured = {.name = "what was recorded", .memory = *std::move(recorded)};
    }
    report.devices.push_back(std::move(device));
  }
  report.process = process;
  return report;
}

void TrainingMemoryManager::RecordMemory() {
  memory_->Record();
  for (const auto& other : others_) other->memory_->Record();
}

void TrainingMemoryManager::StopRecording() {
  memory_->StopRecording();
  for (const auto& other : others_) other->memory_->StopRecording();
}

}  // namespace frugal
