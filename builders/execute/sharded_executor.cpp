#include "builders/execute/sharded_executor.h"

#include <algorithm>
#include <utility>

#include "builders/execute/weights.h"
#include "builders/plan/cautions.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/log.h"

namespace frugal {
namespace {

// Sets whom a device works with while it lives.
class LinkScope {
 public:
  LinkScope(const StageLinks& links, LocalExecutor& device) : device_(device) {
    device_.SetLinks(links);
  }
  LinkScope(const LinkScope&) = delete;
  LinkScope& operator=(const LinkScope&) = delete;
  ~LinkScope() { device_.SetLinks({}); }

 private:
  LocalExecutor& device_;
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
      team_(MakeDeviceTeam(planned)),
      owners_(planned.parameters.size()) {
  for (const std::string& caution : CautionsAbout(planned)) LogWarning(caution);
  CheckWeightsFile(planned);
  for (std::size_t i = 0; i < planned.devices.size(); ++i) {
    const PlannedTraining& device = planned.devices[i];
    devices_.push_back(team_->IsHere(i) ? std::make_unique<LocalExecutor>(device, sources_)
                                        : nullptr);
    const PipelineStage& stage = device.stage->stage;
    for (const Parameter* parameter : device.parameters) {
      const std::int64_t holder = stage.shards.HolderOf(*parameter);
      const bool is_every = holder == ParameterShards::kEveryReplica;
      if (stage.data_index == (is_every ? 0 : holder)) owners_[parameter->index] = i;
    }
  }
}

void ShardedExecutor::Run(std::size_t devices, const std::function<void(LocalExecutor&)>& body) {
  team_->Run(devices, [&](std::size_t number, const StageLinks& links) {
    LocalExecutor& device = *devices_[number];
    const LinkScope scope(links, device);
    body(device);
  });
}

void ShardedExecutor::RunOnAll(const std::function<void(LocalExecutor&)>& body) {
  Run(devices_.size(), body);
}

void ShardedExecutor::RunOnEvaluating(const std::function<void(LocalExecutor&)>& body) {
  const bool all = planned_.devices.back().stage->evaluates();
  Run(all ? devices_.size() : LastStage() + 1, body);
}

std::size_t ShardedExecutor::LastStage() const {
  return static_cast<std::size_t>(planned_.devices.front().stage->stage.count) - 1;
}

LocalExecutor& ShardedExecutor::First() const {
  return **std::ranges::find_if(devices_, [](const auto& device) { return device != nullptr; });
}

bool ShardedExecutor::Holds(const LocalExecutor& device, const Parameter& parameter) const {
  const PlannedTraining& planned = device.planned();
  if (!planned.stage->stage.shards.HoldsValue(parameter)) return false;
  const auto is_it = [&](const Parameter* one) { return one->index == parameter.index; };
  return std::ranges::any_of(planned.parameters, is_it) ||
         std::ranges::any_of(planned.stage->stage.shared, is_it, &SharedParameter::parameter);
}

ParameterStore& ShardedExecutor::StoreOf(const Parameter& parameter) {
  if (const auto& owner = devices_[owners_[parameter.index]]) return owner->StoreOf(parameter);
  return *StoresWith(parameter).front();
}

std::vector<ParameterStore*> ShardedExecutor::StoresWith(const Parameter& parameter) {
  std::vector<ParameterStore*> stores;
  for (const auto& device : devices_) {
    if (device && Holds(*device, parameter)) stores.push_back(&device->StoreOf(parameter));
  }
  return stores;
}

Tensor ShardedExecutor::Fetch(const Parameter& parameter, const Tensor& own) {
  const std::size_t owner = owners_[parameter.index];
  if (team_->IsHere(owner)) {
    team_->Share(BufferOf(own), owner, parameter.path);
    return own;
  }
  Tensor copy(heap_, parameter.shape, MasterType(planned_.dtype()), MemoryTag::kParameter);
  team_->Share(BufferOf(copy), owner, parameter.path);
  return copy;
}

Tensor ShardedExecutor::ValueOf(const Parameter& parameter) {
  const auto& owner = devices_[owners_[parameter.index]];
  return Fetch(parameter, owner ? owner->ValueOf(parameter) : Tensor());
}

Tensor ShardedExecutor::GradientOf(const Parameter& parameter) {
  const std::size_t number = owners_[parameter.index];
  const auto& owner = devices_[number];
  const Tensor own = owner ? owner->GradientOf(parameter) : Tensor();
  std::int64_t is_there = own ? 1 : 0;
  team_->Share({.data = &is_there, .count = 1, .dtype = DType::kI64}, number, parameter.path);
  return is_there != 0 ? Fetch(parameter, own) : Tensor();
}

std::optional<std::string> ShardedExecutor::FindNonFinite() {
  std::optional<std::string> found;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    std::optional<std::string> path = devices_[i] ? devices_[i]->FindNonFinite() : std::nullopt;
    std::int64_t size = path ? std::ssize(*path) : 0;
    team_->Share({.data = &size, .count = 1, .dtype = DType::kI64}, i, "finite weights");
    if (size == 0) continue;
    std::string text = path.value_or(std::string(static_cast<std::size_t>(size), ' '));
    team_->Share({.data = text.data(), .count = size, .dtype = DType::kU8}, i, "finite weights");
    if (!found) found = text;
  }
  return found;
}

std::int64_t ShardedExecutor::Open(DatasetPart part) {
  std::int64_t count = 0;
  for (const auto& device : devices_) {
    if (device == nullptr) continue;
    const StageSetup& stage = *device->planned().stage;
    const bool evaluates = part == DatasetPart::kTrain || stage.evaluates();
    if (stage.reads_data() && evaluates) count = device->Open(part);
  }
  team_->Share({.data = &count, .count = 1, .dtype = DType::kI64}, 0, "the number of samples");
  return count;
}

StepResult ShardedExecutor::RunStep(StepKind kind, const StepSamples& samples) {
  std::vector<StepResult> results(devices_.size());
  const auto step = [&](LocalExecutor& device) {
    results[static_cast<std::size_t>(device.planned().stage->stage.device())] =
        device.RunStep(kind, samples);
  };
  if (kind == StepKind::kTrain) {
    RunOnAll(step);
    return results[static_cast<std::size_t>(First().planned().stage->stage.device())];
  }
  RunOnEvaluating(step);
  StepResult& result = results[LastStage()];
  const auto share = [&](double& loss, std::int64_t& correct) {
    team_->Share({.data = &loss, .count = 1, .dtype = DType::kF64}, LastStage(), "loss");
    team_->Share({.data = &correct, .count = 1, .dtype = DType::kI64}, LastStage(), "accuracy");
  };
  share(result.loss, result.correct);
  if (!planned_.more_outputs.empty()) result.outputs.resize(planned_.more_outputs.size() + 1);
  for (OutputResult& output : result.outputs) share(output.loss, output.correct);
  return result;
}

RecordedStep ShardedExecutor::RunRecorded(const StepSamples& samples) {
  const LocalExecutor* recorder = nullptr;
  for (const auto& device : devices_) {
    if (device == nullptr) continue;
    const std::int64_t peak = device->planned().plan.peak_bytes;
    if (recorder == nullptr || peak > recorder->planned().plan.peak_bytes) recorder = device.get();
  }
  std::vector<RecordedStep> steps(devices_.size());
  RunOnAll([&](LocalExecutor& device) {
    const auto number = std::ranges::find(devices_, &device, &std::unique_ptr<LocalExecutor>::get);
    steps[static_cast<std::size_t>(number - devices_.begin())] = device.RunRecorded(samples);
  });
  RecordedStep recorded;
  std::vector<StepMemory> memory;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i] == nullptr) continue;
    memory.push_back(std::move(steps[i].memory.front()));
    if (devices_[i].get() == recorder) recorded = std::move(steps[i]);
  }
  recorded.memory = std::move(memory);
  return recorded;
}

PredictedValues ShardedExecutor::Predict(std::span<const InputValues> inputs, std::int64_t count) {
  PredictedValues outputs;
  RunOnEvaluating([&](LocalExecutor& device) {
    PredictedValues own = device.Predict(inputs, count);
    const PipelineStage& stage = device.planned().stage->stage;
    if (stage.is_last() && stage.data_index == 0) outputs = std::move(own);
  });
  outputs.resize(planned_.more_outputs.size() + 1);
  for (std::vector<float>& values : outputs) {
    auto size = static_cast<std::int64_t>(values.size());
    team_->Share({.data = &size, .count = 1, .dtype = DType::kI64}, LastStage(), "predictions");
    values.resize(static_cast<std::size_t>(size));
    team_->Share({.data = values.data(), .count = size, .dtype = DType::kF32}, LastStage(),
                 "predictions");
  }
  return outputs;
}

void ShardedExecutor::SwapEma() {
  for (const auto& device : devices_) {
    if (device) device->SwapEma();
  }
}

void ShardedExecutor::CopyValues(Executor& from) {
  for (const auto& device : devices_) {
    if (device) device->CopyValues(from);
  }
}

std::int64_t ShardedExecutor::FromFirstProcess(std::int64_t number) {
  if (Launched() == nullptr) return number;
  team_->Share({.data = &number, .count = 1, .dtype = DType::kI64}, 0, "the first one's decision");
  return number;
}

std::int64_t ShardedExecutor::SumOfProcesses(std::int64_t number) {
  if (Launched() == nullptr) return number;
  auto sum = static_cast<double>(number);
  team_->Sum({.data = &sum, .count = 1, .dtype = DType::kF64}, "what ends the training");
  return static_cast<std::int64_t>(sum);
}

void ShardedExecutor::ResetMetrics() {
  for (const auto& device : devices_) {
    if (device) device->ResetMetrics();
  }
}

// The last stage has seen the outputs.
std::vector<MetricValue> ShardedExecutor::MetricValues() {
  const auto& last = devices_[LastStage()];
  std::vector<MetricValue> values = (last ? *last : First()).MetricValues();
  for (MetricValue& value : values) {
    team_->Share({.data = &value.value, .count = 1, .dtype = DType::kF64}, LastStage(), value.name);
    auto classes = std::ssize(value.matrix);
    team_->Share({.data = &classes, .count = 1, .dtype = DType::kI64}, LastStage(), value.name);
    const auto size = static_cast<std::size_t>(classes);
    value.matrix.resize(size, std::vector<std::int64_t>(size));
    for (std::vector<std::int64_t>& row : value.matrix) {
      team_->Share({.data = row.data(), .count = classes, .dtype = DType::kI64}, LastStage(),
                   value.name);
    }
  }
  return values;
}

void ShardedExecutor::SetRateScale(double scale) {
  for (const auto& device : devices_) {
    if (device) device->SetRateScale(scale);
  }
}

void ShardedExecutor::BeginSchedule() {
  for (const auto& device : devices_) {
    if (device) device->BeginSchedule();
  }
}

void ShardedExecutor::SetTimed(bool timed) {
  for (const auto& device : devices_) {
    if (device) device->SetTimed(timed);
  }
}

void ShardedExecutor::ClearKernelTimes() {
  for (const auto& device : devices_) {
    if (device) device->ClearKernelTimes();
  }
}

Profile ShardedExecutor::KernelTimes() {
  Profile sum = First().KernelTimes();
  for (const auto& device : devices_) {
    if (device && device.get() != &First()) sum.AddKinds(device->KernelTimes());
  }
  return sum;
}

std::optional<PipelineTimes> ShardedExecutor::LastPipeline() {
  // Clocks of several machines have nothing in common.
  const LaunchedRanks* launched = Launched();
  if (launched != nullptr && std::ssize(launched->on_machine) != launched->ranks->size()) {
    return std::nullopt;
  }
  PipelineTimes times;
  double first = 1e300;
  bool complete = true;
  for (std::size_t stage = 0; stage <= LastStage(); ++stage) {
    const auto& schedule = planned_.plan.devices->schedule.stages[stage];
    std::vector<SlotTime> slots =
        devices_[stage] ? devices_[stage]->slots() : std::vector<SlotTime>();
    slots.resize(schedule.size(), SlotTime{-1, -1});  // of a step that had fewer
    static_assert(sizeof(SlotTime) == 2 * sizeof(double));
    team_->Share({.data = slots.data(), .count = 2 * std::ssize(slots), .dtype = DType::kF64},
                 stage, "times of slots");
    complete = complete && std::ranges::none_of(slots, [](const auto& s) { return s.end < 0; });
    first = std::min(first, slots.front().begin);
    times.slots.push_back(std::move(slots));
  }
  if (!complete) return std::nullopt;
  for (std::vector<SlotTime>& slots : times.slots) {
    for (SlotTime& slot : slots) slot = {.begin = slot.begin - first, .end = slot.end - first};
  }
  return times;
}

}  // namespace frugal
