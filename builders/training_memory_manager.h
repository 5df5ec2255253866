#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "builders/training_memory/layer_pass.h"
#include "builders/training_memory/memory_estimate.h"
#include "presets/training_memory_config.h"
#include "sdk/autograd/checkpoint.h"
#include "sdk/memory/tensor_pool.h"
#include "sdk/module/parameter_store.h"
#include "sdk/plan/placement.h"

namespace frugal {

struct TrainingMemoryManagerOptions {
  BackendKind backend = BackendKind::kOneDnn;
  DType dtype = DType::kF32;  // of activations: f32, bf16 (onednn) or f64 (eigen)
  std::uint64_t seed = 0;     // of first values and dropout
};

// Memory of one device.
struct DeviceMemoryUsage {
  std::int64_t device = 0;
  BytesByTag live;                   // in use by the manager, by purpose
  std::int64_t live_bytes = 0;       // all of them
  std::int64_t peak_bytes = 0;       // the most they ever were
  std::int64_t idle_pool_bytes = 0;  // kept beside them for the next request
  std::int64_t limit_bytes = 0;      // max_memory_per_device_mb, or what the system has
};

class ManagerMemory;
struct MemoryReport;

// A forward pass that waits for its backward pass: what TrainingMemoryManager keeps in between. It
// may be dropped unused, and may outlive the manager; the layers must live until backward.
class CheckpointState {
 public:
  CheckpointState() = default;  // of no pass

  // Returns true while a backward pass can still go through it.
  bool is_pending() const { return parts_ != nullptr && !parts_->used; }
  // Gives back what is kept for backward, which can then not follow any more.
  void Drop() { parts_.reset(); }

 private:
  friend class TrainingMemoryManager;
  struct Parts {
    std::shared_ptr<const ManagerMemory> memory;  // of the manager it belongs to
    LayerPass pass;
    bool used = false;
  };
  std::unique_ptr<Parts> parts_;
};

// Holds what a forward pass returns.
struct CheckpointedForward {
  Tensor output;
  CheckpointState state;
};

// Checkpointed, pooled training for those who bring their own layers or functions and run their own
// loop. It owns kernels, memory and parameter values; layers stay the caller's:
//
//   TrainingMemoryManager manager(TrainingMemoryConfig::MemoryEfficient());
//   Dense first(784, {.units = 256, .activation = Activation::kRelu});
//   Dense second(256, {.units = 10});
//   const LayerPointers layers = {&first, &second};
//   Tensor images = manager.RentTensor({32, 784});  // and write images.values<float>()
//   auto [output, state] = manager.ForwardWithCheckpointing(layers, images);
//   Tensor gradient = manager.RentTensor(output.shape());  // the loss' gradient by the output
//   manager.BackwardWithCheckpointing(gradient, state);    // adds to the parameters' gradients
//   optimizer.Step(manager.context(), ParametersOf(layers));
//   manager.context().parameters().ClearGradients();
//
// Layers without a path are named and numbered when they are first seen. The policy never changes a
// bit of any result. Each loop sets manager.context().set_step(), which dropout and optimizers go
// by; the context begins in training mode.
//
// Of the configuration, checkpoint_every_n_layers and the fields beside it decide about segments
// (layers are cut as they stand, none is entered), use_activation_pooling and max_pool_memory_mb
// about activations and rented tensors, the tensor pool's fields, default_initialization_strategy
// and the weights file about parameters, and max_memory_per_device_mb and memory_warning_threshold
// about limits. Threads: one uses a manager at a time, and so its layers and tensors.
class TrainingMemoryManager {
 public:
  // Throws ConfigError for a configuration that cannot be honoured: contradictions, a memory budget
  // or optimizer_in_backward (which are AiModelBuilder's), an element type that the backend has
  // not.
  explicit TrainingMemoryManager(const TrainingMemoryConfig& config,
                                 const TrainingMemoryManagerOptions& options = {});
  // With several devices (num_devices), `layers` are what the sharded calls below run: as
  // sharding_strategy says, each device gets some that follow each other.
  TrainingMemoryManager(const TrainingMemoryConfig& config, LayerPointers layers,
                        const TrainingMemoryManagerOptions& options = {});
  ~TrainingMemoryManager();
  TrainingMemoryManager(const TrainingMemoryManager&) = delete;
  TrainingMemoryManager& operator=(const TrainingMemoryManager&) = delete;

  bool CheckpointingEnabled() const { return config_.use_gradient_checkpointing; }
  bool PoolingEnabled() const { return config_.use_activation_pooling; }
  bool ShardingEnabled() const { return config_.num_devices > 1; }
  const TrainingMemoryConfig& Config() const { return config_; }

  // Returns what operations, optimizers and tapes of one's own run with; parameters' values and
  // gradients are in context().parameters().
  Context& context() { return *context_; }

  // --- layers one after the other -------------------------------------------------------------
  // Runs them on values in the manager's element type, in f32 beside bf16, or token numbers.
  // Throws UsageError for other inputs, and what layers throw.
  CheckpointedForward ForwardWithCheckpointing(const LayerPointers& layers, const Tensor& input);
  // Adds to the gradients of the layers' parameters and returns the input's (empty for tokens).
  // The output's gradient has the output's shape and its element type (f32 beside bf16 will do).
  // Throws UsageError for a state that has been through backward or is another manager's, and
  // ShapeError; the state is as before then. An error of a layer's, or a memory limit, uses it up.
  Tensor BackwardWithCheckpointing(const Tensor& output_gradient, CheckpointState& state);
  // Runs layers in the same way, as a differentiable operation on the tape of context().
  Var CheckpointSequence(const LayerPointers& layers, const Var& input);
  // Runs layers between which several variables travel; the first is the one that layers work on.
  void CheckpointSequence(const LayerPointers& layers, VarTuple& vars);
  // Runs functions one after the other; of each run of checkpoint_every_n_layers of them, only the
  // input is kept.
  Var CheckpointSequence(const std::vector<SegmentFunction>& functions, const Var& input);

  // --- functions ------------------------------------------------------------------------------
  using SeveralInputsFunction = std::function<Var(Context&, const std::vector<Var>&)>;
  // Runs a function keeping only its inputs, on the tape of context(), and again in backward. With
  // use_gradient_checkpointing off, it runs as it is. Layers that it uses are adopted before, and
  // live, like all that it refers to, until backward.
  Var Checkpoint(const SegmentFunction& function, const Var& input);
  Var Checkpoint(const SeveralInputsFunction& function, const std::vector<Var>& inputs);
  // Names and numbers layers that only functions use. The other calls do so themselves.
  void Adopt(const LayerPointers& layers);

  // --- memory ---------------------------------------------------------------------------------
  // A tensor from the activation pool, or the heap; not initialized. Of the manager's element type
  // where none is given. It gives itself back like any tensor. Throws ShapeError.
  Tensor RentTensor(const Shape& shape, std::optional<DType> dtype = std::nullopt);
  // Gives it back now and empties `tensor`. Throws UsageError, and changes nothing, where it was
  // not rented from this manager, was returned already, or is still held elsewhere: by a copy, or
  // by a forward pass that needs it for backward.
  void ReturnTensor(Tensor& tensor);
  // Returns the statistics of the activation pool; nothing where there is none.
  std::optional<PoolStatistics> GetPoolStats() const;

  // Exact bytes of a forward and backward pass over the layers, found by running them dry: only the
  // input's shape and element type count, and no parameter is made. `with` is as the configuration
  // would checkpoint were it on.
  MemoryEstimate EstimateMemory(const LayerPointers& layers, const Tensor& input);
  // Estimates by a formula, for layers that are not there yet: see EstimateActivations.
  ActivationEstimate EstimateMemory(std::int64_t num_layers, std::int64_t activation_bytes) const;

  // One entry for each device.
  std::vector<DeviceMemoryUsage> GetDeviceMemoryUsage() const;

  // Says who holds the memory of each device now and, where it is recorded, who held it at the peak
  // since RecordMemory(): see memory_report/memory_report.h. Recording takes some hundred bytes for
  // each tensor and kernel call until it begins anew or StopRecording() ends it.
  frugal::MemoryReport MemoryReport() const;
  void RecordMemory();
  void StopRecording();

  // --- several devices ------------------------------------------------------------------------
  // Each device has memory, values and gradients of its own; this manager is the first of them.
  // They run one after the other on the calling thread, and come to the bits of one device. All
  // throw UsageError where there is one device, or no layers were given, and ConfigError where the
  // layers cannot be placed so.

  // Runs the layers through all devices, checkpointed as configured; the output is in the last
  // device's memory. With `context`, a conditioning, every layer gets it beside what it works on,
  // as the second variable of its tuple.
  Tensor ShardedForward(const Tensor& input);
  Tensor ShardedForward(const Tensor& input, const Tensor& context);
  // Goes back through the last forward pass, which can be done once: adds to the gradients of the
  // parameters, each on its device, and returns the input's (empty for tokens).
  Tensor ShardedBackward(const Tensor& output_gradient);
  // Takes the step value -= learning_rate * gradient on every device, and clears the gradients.
  void ShardedUpdateParameters(double learning_rate);
  // Returns where a layer of the constructor's list is; the devices are placed by the first forward
  // pass.
  std::int64_t DeviceOf(std::size_t layer) const;

 private:
  LayerChain ChainOf(const LayerPointers& layers, const VarTuple& inputs, bool checkpointed);
  DryPass DryPassOf(const VarTuple& inputs) const;
  CheckpointedForward Forward(const std::string& where, const LayerPointers& layers,
                              const Tensor& input, const Tensor* conditioning);
  DeviceMemoryUsage UsageOf(std::int64_t device) const;

  void RequireSharding(const std::string& where) const;
  void Place(const VarTuple& inputs);
  Placement PlacementOf(const VarTuple& inputs);
  TrainingMemoryManager& Device(std::size_t number);
  LayerPointers LayersOn(std::size_t device) const;
  Tensor RunSharded(const Tensor& input, const Tensor* conditioning);

  TrainingMemoryConfig config_;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<ManagerMemory> memory_;
  std::unique_ptr<ParameterStore> store_;
  std::unique_ptr<Context> context_;
  LayerRegistry registry_;

  TrainingMemoryManagerOptions options_;
  LayerPointers layers_;                                        // of sharded calls
  Placement placement_;                                         // empty until the first of these
  std::vector<std::unique_ptr<TrainingMemoryManager>> others_;  // devices 1, 2, ...
  std::vector<CheckpointState> sharded_pass_;                   // by device, of the last forward
};

}  // namespace frugal
