#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "builders/execute/executor.h"
#include "builders/execute/memory_stack.h"
#include "builders/execute/metric_set.h"
#include "builders/execute/step_layouts.h"
#include "sdk/autograd/activation_pager.h"
#include "sdk/io/paging/disk_pager.h"
#include "sdk/train/stage.h"

namespace frugal {

// Runs planned steps on one device: holds its memory, the values of its parameters, the context
// that steps run in and the data.
class LocalExecutor final : public Executor {
 public:
  // The planned training must outlive it. With own data, `sources` holds it; otherwise data sets
  // are read when they are first needed. Takes parameter memory here, or, with lazy initialization,
  // when each is first touched.
  LocalExecutor(const PlannedTraining& planned, DataSources sources);

  const PlannedTraining& planned() const override { return planned_; }
  const DataSources& sources() const override { return sources_; }
  ParameterStore& StoreOf(const Parameter&) override { return store_; }
  std::vector<ParameterStore*> StoresWith(const Parameter&) override { return {&store_}; }
  Tensor ValueOf(const Parameter& parameter) override { return store_.Value(parameter); }
  Tensor GradientOf(const Parameter& parameter) override { return store_.Gradient(parameter); }
  std::optional<std::string> FindNonFinite() override;
  std::int64_t Open(DatasetPart part) override { return Source(part).count(); }
  StepResult RunStep(StepKind kind, const StepSamples& samples) override;
  RecordedStep RunRecorded(const StepSamples& samples) override;
  PredictedValues Predict(std::span<const InputValues> inputs, std::int64_t count) override;
  void SwapEma() override;
  bool averaged() const override { return averaged_; }
  void CopyValues(Executor& from) override;
  void ResetMetrics() override { metrics_.Reset(); }
  std::vector<MetricValue> MetricValues() override { return metrics_.Values(); }
  void SetRateScale(double scale) override { planned_.optimizer->set_rate_scale(scale); }
  void BeginSchedule() override { planned_.optimizer->BeginSchedule(context_.step()); }

  std::vector<StateTensor> StateTensors() override;
  std::vector<StateTensor> HoldState() override;
  void LoadState(const StateFiles& state) override;
  bool UndoStep() override;
  TrainingPosition position() const override {
    return {.step = context_.step(), .schedule_begin = planned_.optimizer->schedule_begin()};
  }
  void SetPosition(const TrainingPosition& position) override {
    planned_.optimizer->BeginSchedule(position.schedule_begin);
    context_.set_step(position.step);
  }

  void SetTimed(bool timed) override { context_.profile().timed = timed; }
  void ClearKernelTimes() override { context_.profile().by_kind = {}; }
  Profile KernelTimes() override { return context_.profile(); }
  std::int64_t live_bytes() const override { return memory_.ledger().live_total(); }
  std::int64_t system_allocations() const override { return memory_.system_allocations(); }
  MemoryMeasurement Measured() const override;
  std::vector<DeviceMemory> DeviceMemories() const override;

  // Says whom a device among several works with, until the next call.
  void SetLinks(const StageLinks& links) { links_ = links; }
  // When the slots of its last whole training step worked, by a clock of the machine.
  const std::vector<SlotTime>& slots() const { return slots_; }

 private:
  template <class Step>
  auto RunPlanned(StepKind kind, std::int64_t batch, Step step);
  void EndPaging(StepKind kind, std::int64_t batch);
  StepLayouts::Layout LayoutFor(StepKind kind, std::int64_t batch);
  // Calls `take` with each tensor of the state that this device writes, and its parameter.
  void ForEachStateTensor(const std::function<void(const Parameter&, StateTensor)>& take);
  // Copies what a snapshot that is being written has not read of the parameter's state.
  void BeforeChange(const Parameter& parameter);
  // Copies the buffers as they are before a step, where a snapshot is saved if it fails.
  void KeepBuffers();
  // Takes what the snapshot has of a parameter of so many states, or only looks at the forms.
  void LoadParameter(const StateFiles& state, const Parameter& parameter, std::size_t states,
                     bool is_check);
  // Those that it owns, and copies of shared ones.
  std::vector<const Parameter*> HeldParameters() const;
  const DataSource& Source(DatasetPart part);
  std::shared_ptr<const DataSource> OpenSource(DatasetPart part);
  // Returns what a step is run with; its outputs go to the metrics.
  StepParts PartsFor(std::span<const std::int64_t> samples);
  StepResult RunStageStep(StepKind kind, const StepSamples& samples);

  const PlannedTraining& planned_;
  MemoryStack memory_;
  Tensor page_buffer_;
  std::unique_ptr<DiskPager> pager_;  // null where nothing is paged
  PagingTraffic paged_;               // in the last training step of a whole batch
  ParameterStore store_;
  Context context_;
  std::optional<ActivationPager> activation_pager_;
  DataSources sources_;
  MetricSet metrics_;
  Tensor kept_buffers_;  // of before the step; empty where nobody asks for them
  std::int64_t updates_before_ = 0;
  bool buffers_kept_ = false;
  Tensor staging_;  // room for copies of what a snapshot is written from; empty where none are
  // The snapshot that was begun last is written from these, by Parameter::index.
  std::map<std::size_t, std::vector<std::shared_ptr<HeldTensor>>> held_;
  OutputsFunction take_outputs_;  // of the step that runs
  StepLayouts layouts_;           // of steps that are not in the plan
  StageLinks links_;              // null where the device is alone
  Traffic sent_;                  // in training steps
  std::vector<SlotTime> slots_;
  const int threads_;  // of kernels
  bool averaged_ = false;
  bool in_step_ = false;
};

}  // namespace frugal
