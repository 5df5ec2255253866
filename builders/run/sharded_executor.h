#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "builders/run/local_executor.h"

namespace frugal {

// Runs planned steps on several devices, each of them a thread with a team and memory of its own.
class ShardedExecutor final : public Executor {
 public:
  // The planned training must outlive it. Own data are read from several threads at once.
  ShardedExecutor(const PlannedTraining& planned, DataSources sources);

  const PlannedTraining& planned() const override { return planned_; }
  const DataSources& sources() const override { return sources_; }
  ParameterStore& StoreOf(const Parameter& parameter) override;
  std::vector<ParameterStore*> StoresWith(const Parameter& parameter) override;
  const DataSource& Source(DatasetPart part) override;
  StepResult RunStep(StepKind kind, const DataSource& source,
                     std::span<const std::int64_t> samples) override;
  RecordedStep RunRecorded(const DataSource& source,
                           std::span<const std::int64_t> samples) override;
  std::vector<float> Predict(std::span<const InputValues> inputs, std::int64_t count) override;
  void SwapEma() override;
  bool averaged() const override { return devices_.front()->averaged(); }
  void CopyValues(Executor& from) override;

  void SetTimed(bool timed) override;
  void ClearKernelTimes() override;
  Profile KernelTimes() override;
  std::int64_t live_bytes() const override;
  std::int64_t system_allocations() const override;
  MemoryMeasurement Measured() const override;

 private:
  // Runs body(device) on every device's thread, or on those of the first replica.
  void RunOnAll(const std::function<void(LocalExecutor&)>& body);
  void RunOnFirstReplica(const std::function<void(LocalExecutor&)>& body);
  void Run(std::size_t devices, const std::function<void(LocalExecutor&)>& body);

  const PlannedTraining& planned_;
  DataSources sources_;
  int threads_;  // of each device
  std::vector<std::unique_ptr<LocalExecutor>> devices_;
  std::vector<std::size_t> owners_;  // devices, by Parameter::index
};

}  // namespace frugal
