#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builders/execute/device_team.h"
#include "builders/execute/local_executor.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// Runs planned steps on several devices, each with a team and memory of its own. Where devices are
// processes, each of them has one of these, which knows the others' by the same plan.
class ShardedExecutor final : public Executor {
 public:
  // The planned training must outlive it. Own data are read from several threads at once.
  ShardedExecutor(const PlannedTraining& planned, DataSources sources);

  const PlannedTraining& planned() const override { return planned_; }
  const DataSources& sources() const override { return sources_; }
  ParameterStore& StoreOf(const Parameter& parameter) override;
  std::vector<ParameterStore*> StoresWith(const Parameter& parameter) override;
  Tensor ValueOf(const Parameter& parameter) override;
  Tensor GradientOf(const Parameter& parameter) override;
  std::optional<std::string> FindNonFinite() override;
  std::int64_t Open(DatasetPart part) override;
  StepResult RunStep(StepKind kind, const StepSamples& samples) override;
  RecordedStep RunRecorded(const StepSamples& samples) override;
  PredictedValues Predict(std::span<const InputValues> inputs, std::int64_t count) override;
  void SwapEma() override;
  bool averaged() const override { return First().averaged(); }
  void CopyValues(Executor& from) override;
  void ResetMetrics() override;
  std::vector<MetricValue> MetricValues() override;
  void SetRateScale(double scale) override;
  void BeginSchedule() override;

  std::vector<StateTensor> StateTensors() override;
  std::vector<StateTensor> HoldState() override;
  void LoadState(const StateFiles& state) override;
  bool UndoStep() override;
  TrainingPosition position() const override { return First().position(); }
  void SetPosition(const TrainingPosition& position) override;
  std::int64_t FromFirstProcess(std::int64_t number) override;
  std::int64_t SumOfProcesses(std::int64_t number) override;

  void SetTimed(bool timed) override;
  void ClearKernelTimes() override;
  Profile KernelTimes() override;
  std::optional<PipelineTimes> LastPipeline() override;
  std::int64_t live_bytes() const override;
  std::int64_t system_allocations() const override;
  MemoryMeasurement Measured() const override;
  std::vector<DeviceMemory> DeviceMemories() const override;

 private:
  // body(device) for all, or for those that evaluate.
  void RunOnAll(const std::function<void(LocalExecutor&)>& body);
  void RunOnEvaluating(const std::function<void(LocalExecutor&)>& body);
  void Run(std::size_t devices, const std::function<void(LocalExecutor&)>& body);

  // The first device that is in this process.
  LocalExecutor& First() const;
  bool Holds(const LocalExecutor& device, const Parameter& parameter) const;
  // The number of the first replica's last device.
  std::size_t LastStage() const;
  // Brings every process a device's tensor; `own` is it, where the device is here.
  Tensor Fetch(const Parameter& parameter, const Tensor& own);

  const PlannedTraining& planned_;
  DataSources sources_;
  std::unique_ptr<DeviceTeam> team_;
  std::vector<std::unique_ptr<LocalExecutor>> devices_;  // null where a device is elsewhere
  std::vector<std::size_t> owners_;                      // devices, by Parameter::index
  HeapAllocator heap_;                                   // of what other processes sent
};

}  // namespace frugal
