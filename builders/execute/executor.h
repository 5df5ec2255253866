#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "builders/execute/allocator_statistics.h"
#include "builders/execute/data_sources.h"
#include "builders/execute/state_tensors.h"
#include "builders/execute/training_result.h"
#include "builders/plan/planned_training.h"
#include "sdk/memory/step_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal {

// A training step with what was measured of it.
struct RecordedStep {
  StepResult step;
  MemoryTimeline timeline;
  std::vector<LayerMeasurement> layers;
  std::vector<StepMemory> memory;  // of each device of this process
};

// Runs planned steps: holds memory, the values of the parameters and the data. Trainings,
// evaluations and predictions go through it. It checks nothing of what it is given; Model does.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  virtual const PlannedTraining& planned() const = 0;
  // Data of the program's own, or what was opened of data sets.
  virtual const DataSources& sources() const = 0;
  // Returns the store of this process that holds the parameter's value, gradient and state.
  virtual ParameterStore& StoreOf(const Parameter& parameter) = 0;
  // All of this process that hold a value of it: devices may share a parameter.
  virtual std::vector<ParameterStore*> StoresWith(const Parameter& parameter) = 0;
  // Return the value or the last gradient, wherever it is; the latter is empty where there is none.
  virtual Tensor ValueOf(const Parameter& parameter) = 0;
  virtual Tensor GradientOf(const Parameter& parameter) = 0;

  // Opens the part where it is needed and not open yet, and returns how many samples it has. Throws
  // UsageError where the program brought none.
  virtual std::int64_t Open(DatasetPart part) = 0;

  // Runs a training or evaluation step on the memory that was planned for it.
  virtual StepResult RunStep(StepKind kind, const StepSamples& samples) = 0;
  // Runs a training step and keeps the book of it; of several devices, that of the one of this
  // process whose plan is largest.
  virtual RecordedStep RunRecorded(const StepSamples& samples) = 0;
  // Keeps the memory of a step of so many samples that was recorded, for reports; of each device of
  // this process.
  void Keep(std::vector<StepMemory> recorded, std::int64_t batch) {
    recorded_ = std::move(recorded);
    recorded_batch_ = batch;
  }
  const std::vector<StepMemory>& recorded() const { return recorded_; }
  std::int64_t recorded_batch() const { return recorded_batch_; }
  // Returns all of the network's outputs for `count` samples of all of its inputs.
  virtual PredictedValues Predict(std::span<const InputValues> inputs, std::int64_t count) = 0;
  // Runs over the test or the validation part. Throws UsageError where there is none.
  EvaluationResult Evaluate(DatasetPart part);
  // Metrics over the evaluation steps since ResetMetrics.
  virtual void ResetMetrics() = 0;
  virtual std::vector<MetricValue> MetricValues() = 0;
  // Learning rates are multiplied by this from now on.
  virtual void SetRateScale(double scale) = 0;
  // The schedule of the learning rate begins anew with the next step.
  virtual void BeginSchedule() = 0;

  // Swaps the weights with their moving averages, where the optimizer keeps them.
  virtual void SwapEma() = 0;
  // True where the weights are their averages now.
  virtual bool averaged() const = 0;
  bool keeps_averages() const { return planned().config.optimizer.ema_decay > 0; }
  // Takes the values that are materialized there. The network must be the same.
  virtual void CopyValues(Executor& from) = 0;

  // The state between two steps, for snapshots: of what this process is to write, as it is, or held
  // as it is now until it is read or the next call comes: steps that run meanwhile copy what they
  // are about to change to the memory that is planned for it.
  virtual std::vector<StateTensor> StateTensors() = 0;
  virtual std::vector<StateTensor> HoldState() = 0;
  // Takes all that this process is to have of it; what is not there is left as it is. Throws
  // SnapshotError where a tensor has another form.
  virtual void LoadState(const StateFiles& state) = 0;
  // Takes back what a training step that failed has done to running statistics, where they were
  // kept (snapshots.on_exit), and returns whether the state is that of before the step: false where
  // some weights were updated already.
  virtual bool UndoStep() = 0;
  virtual TrainingPosition position() const = 0;
  virtual void SetPosition(const TrainingPosition& position) = 0;
  // Returns the first process's number to all of them.
  virtual std::int64_t FromFirstProcess(std::int64_t number) { return number; }
  // Returns the sum of the numbers of all processes, below 2^53, to each of them.
  virtual std::int64_t SumOfProcesses(std::int64_t number) { return number; }

  // Does what Model::RequireFiniteWeights says.
  void RequireFiniteWeights();
  // The path of a parameter with a value that is not finite; nothing where there is none.
  virtual std::optional<std::string> FindNonFinite() = 0;
  std::string WeightsHash();

  // Kernels are timed, of all devices, while this is set.
  virtual void SetTimed(bool timed) = 0;
  virtual void ClearKernelTimes() = 0;
  virtual Profile KernelTimes() = 0;

  // When the slots of the last whole training step worked, from its beginning; nothing on one
  // device.
  virtual std::optional<PipelineTimes> LastPipeline() { return std::nullopt; }

  virtual std::int64_t live_bytes() const = 0;
  virtual std::int64_t system_allocations() const = 0;
  virtual MemoryMeasurement Measured() const = 0;
  // Tells of each device of this process what its memory did so far, and who holds what is live.
  virtual std::vector<DeviceMemory> DeviceMemories() const = 0;

 private:
  std::vector<StepMemory> recorded_;
  std::int64_t recorded_batch_ = 0;
};

// While it lives, the weights are their moving averages, where the optimizer keeps them.
class EmaScope {
 public:
  explicit EmaScope(Executor& executor)
      : executor_(executor.keeps_averages() && !executor.averaged() ? &executor : nullptr) {
    if (executor_ != nullptr) executor_->SwapEma();
  }
  EmaScope(const EmaScope&) = delete;
  EmaScope& operator=(const EmaScope&) = delete;
  ~EmaScope() {
    if (executor_ != nullptr) executor_->SwapEma();
  }

  // False where there are no averages, or the weights were these already.
  bool swaps() const { return executor_ != nullptr; }

 private:
  Executor* executor_;  // null where there is nothing to undo
};

}  // namespace frugal
