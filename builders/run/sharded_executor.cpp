#include "builders/run/sharded_executor.h"

#include <algorithm>
#include <utility>

#include "builders/plan/cautions.h"
#include "builders/run/weights.h"
#include "sdk/comm/thread_ranks.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

// Names the groups along the axes of the mesh and sets them on the device while it lives.
class LinkScope {
 public:
  LinkScope(Communicator& ranks, LocalExecutor& device) : device_(device) {
    const PipelineStage& stage = device.planned().stage->stage;
    pipeline_ = ranks.Split(static_cast<int>(stage.data_index), "the mesh");
    data_ = ranks.Split(static_cast<int>(stage.index), "the mesh");
    device_.SetLinks({.pipeline = pipeline_.get(), .data = data_.get()});
  }
  LinkScope(const LinkScope&) = delete;
  LinkScope& operator=(const LinkScope&) = delete;
  ~LinkScope() {
    device_.SetLinks({});
    device_.CountSent(pipeline_->traffic());
    device_.CountSent(data_->traffic());
  }

 private:
  LocalExecutor& device_;
  std::unique_ptr<Communicator> pipeline_, data_;
};

// Every device reads its own part of the file, which is held against the whole network here.
void CheckWeightsFile(const PlannedTraining& planned) {
  const TrainingMemoryConfig& memory = planned.config.memory;
  if (memory.default_initialization_strategy != InitializationStrategy::kFromFile) return;
  OpenModelWeights(*memory.weights_file_path, memory.weights_file_format, planned.parameters,
                   planned.config.model.allow_missing);
}

}  // namespace

ShardedExecutor::ShardedExecutor(const PlannedTraining& planned, DataSources sources)
    : planned_(planned),
      sources_(std::move(sources)),
      threads_(ThreadCount()),
      owners_(planned.parameters.size()) {
  for (const std::string& caution : CautionsAbout(planned)) LogWarning(caution);
  CheckWeightsFile(planned);
  for (const PlannedTraining& device : planned.devices) {
    devices_.push_back(std::make_unique<LocalExecutor>(device, sources_));
    if (device.stage->stage.data_index > 0) continue;
    for (const Parameter* parameter : device.parameters) {
      owners_[parameter->index] = devices_.size() - 1;
    }
  }
}

void ShardedExecutor::Run(std::size_t devices, const std::function<void(LocalExecutor&)>& body) {
  RunThreadRanks(static_cast<int>(devices), [&](Communicator& ranks) {
    SetThreadCount(threads_);
    LocalExecutor& device = *devices_[static_cast<std::size_t>(ranks.rank())];
    const LinkScope links(ranks, device);
    body(device);
  });
}

void ShardedExecutor::RunOnAll(const std::function<void(LocalExecutor&)>& body) {
  Run(devices_.size(), body);
}

void ShardedExecutor::RunOnFirstReplica(const std::function<void(LocalExecutor&)>& body) {
  Run(static_cast<std::size_t>(planned_.devices.front().stage->stage.count), body);
}

ParameterStore& ShardedExecutor::StoreOf(const Parameter& parameter) {
  return devices_[owners_[parameter.index]]->StoreOf(parameter);
}

std::vector<ParameterStore*> ShardedExecutor::StoresWith(const Parameter& parameter) {
  std::vector<ParameterStore*> stores;
  for (const auto& device : devices_) {
    const PlannedTraining& planned = device->planned();
    const auto is_it = [&](const Parameter* one) { return one->index == parameter.index; };
    if (std::ranges::any_of(planned.parameters, is_it) ||
        std::ranges::any_of(planned.stage->stage.shared, is_it, &SharedParameter::parameter)) {
      stores.push_back(&device->StoreOf(parameter));
    }
  }
  return stores;
}

const DataSource& ShardedExecutor::Source(DatasetPart part) {
  for (const auto& device : devices_) {
    const StageSetup& stage = *device->planned().stage;
    const bool evaluates = part == DatasetPart::kTrain || stage.evaluates();
    if (stage.reads_data() && evaluates) device->Source(part);
  }
  return devices_.front()->Source(part);
}

StepResult ShardedExecutor::RunStep(StepKind kind, const DataSource& source,
                                    std::span<const std::int64_t> samples) {
  std::vector<StepResult> results(devices_.size());
  const auto step = [&](LocalExecutor& device) {
    const bool reads = device.planned().stage->reads_data();
    const DatasetPart part = kind == StepKind::kTrain ? DatasetPart::kTrain : DatasetPart::kTest;
    const DataSource& own = reads ? device.Source(part) : source;
    const auto& stage = device.planned().stage->stage;
    const auto number = static_cast<std::size_t>(stage.data_index * stage.count + stage.index);
    results[number] = device.RunStep(kind, own, samples);
  };
  if (kind == StepKind::kTrain) {
    RunOnAll(step);
    return results.front();
  }
  RunOnFirstReplica(step);
  return results[static_cast<std::size_t>(planned_.devices.front().stage->stage.count) - 1];
}

RecordedStep ShardedExecutor::RunRecorded(const DataSource& source,
                                          std::span<const std::int64_t> samples) {
  const auto largest = std::ranges::max_element(
      planned_.devices, {}, [](const auto& device) { return device.plan.peak_bytes; });
  const LocalExecutor* recorder =
      devices_[static_cast<std::size_t>(largest - planned_.devices.begin())].get();
  RecordedStep recorded;
  RunOnAll([&](LocalExecutor& device) {
    const DataSource& own =
        device.planned().stage->reads_data() ? device.Source(DatasetPart::kTrain) : source;
    if (&device == recorder) {
      recorded = device.RunRecorded(own, samples);
    } else {
      device.RunStep(StepKind::kTrain, own, samples);
    }
  });
  return recorded;
}

std::vector<float> ShardedExecutor::Predict(std::span<const InputValues> inputs,
                                            std::int64_t count) {
  std::vector<float> outputs;
  RunOnFirstReplica([&](LocalExecutor& device) {
    std::vector<float> own = device.Predict(inputs, count);
    if (device.planned().stage->stage.is_last()) outputs = std::move(own);
  });
  return outputs;
}

void ShardedExecutor::SwapEma() {
  for (const auto& device : devices_) device->SwapEma();
}

void ShardedExecutor::CopyValues(Executor& from) {
  for (const auto& device : devices_) device->CopyValues(from);
}

void ShardedExecutor::SetTimed(bool timed) {
  for (const auto& device : devices_) device->SetTimed(timed);
}

void ShardedExecutor::ClearKernelTimes() {
  for (const auto& device : devices_) device->ClearKernelTimes();
}

Profile ShardedExecutor::KernelTimes() {
  Profile sum = devices_.front()->KernelTimes();
  for (std::size_t i = 1; i < devices_.size(); ++i) sum.AddKinds(devices_[i]->KernelTimes());
  return sum;
}

std::int64_t ShardedExecutor::live_bytes() const {
  std::int64_t sum = 0;
  for (const auto& device : devices_) sum += device->live_bytes();
  return sum;
}

std::int64_t ShardedExecutor::system_allocations() const {
  std::int64_t sum = 0;
  for (const auto& device : devices_) sum += device->system_allocations();
  return sum;
}

MemoryMeasurement ShardedExecutor::Measured() const {
  MemoryMeasurement sum = devices_.front()->Measured();
  sum.devices = {sum};
  for (std::size_t i = 1; i < devices_.size(); ++i) {
    const MemoryMeasurement own = devices_[i]->Measured();
    for (const MemoryTag tag : kAllMemoryTags) {
      sum.peak_by_purpose[tag] += own.peak_by_purpose[tag];
      sum.at_peak[tag] += own.at_peak[tag];
    }
    sum.sent += own.sent;
    sum.peak_bytes += own.peak_bytes;
    sum.arena_bytes += own.arena_bytes;
    sum.devices.push_back(own);
  }
  return sum;
}

}  // namespace frugal
