#include "builders/execute/local_executor.h"

#include <algorithm>
#include <utility>

#include "builders/dry_run/dry_training.h"
#include "builders/execute/weights.h"
#include "builders/plan/cautions.h"
#include "builders/plan/one_device_planner.h"
#include "builders/setup/paging.h"
#include "builders/setup/snapshot_staging.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/log.h"
#include "sdk/core/threads.h"
#include "sdk/data/checked_source.h"
#include "sdk/data/sample_range.h"
#include "sdk/memory/recording.h"
#include "sdk/train/stage_step.h"

namespace frugal {
namespace {

Tensor PageBufferOf(const PlannedTraining& planned, MemoryStack& memory) {
  if (!planned.plan.paging) return {};
  return TakePageBuffer(PageBufferBytesOf(planned.config.memory), memory.tensors(),
                        memory.ledger());
}

std::unique_ptr<DiskPager> PagerOf(const PlannedTraining& planned, const Tensor& buffer) {
  if (!buffer) return nullptr;
  const PagingPlan& plan = *planned.plan.paging;
  return std::make_unique<DiskPager>(plan.file, plan.file_bytes,
                                     std::as_writable_bytes(buffer.values<std::uint8_t>()));
}

ParameterStore::Options StoreOptions(const PlannedTraining& planned, MemoryStack& memory,
                                     TensorPager* pager) {
  const auto strategy = planned.config.memory.default_initialization_strategy;
  return {.dtype = MasterType(planned.dtype()),
          .seed = planned.seed(),
          .dry = false,
          .start_at_zero = strategy == InitializationStrategy::kZero,
          .step_memory = &memory.step(),
          .step_gradients = planned.updates_in_backward(),
          .shards = planned.stage ? &planned.stage->stage.shards : nullptr,
          .paging = PagingBy(pager, PagedKindsOf(planned.config.memory), planned.config.memory)};
}

// Steps of one kind and size page alike.
std::int64_t PageKey(StepKind kind, std::int64_t batch) {
  return batch * static_cast<std::int64_t>(StepKind::kCount) + static_cast<std::int64_t>(kind);
}

// The activation pool is a limit too: what a step needs beyond it is returned after each step.
void WarnAboutActivationPool(const PlannedTraining& planned) {
  const TrainingMemoryConfig& memory = planned.config.memory;
  const std::int64_t pool = memory.max_pool_memory_mb * kBytesPerMegabyte;
  const auto threshold = memory.memory_warning_threshold * static_cast<double>(pool);
  if (static_cast<double>(planned.plan.arena_bytes) < threshold) return;
  LogWarning("a step uses " + FormatBytes(planned.plan.arena_bytes) + " of the activation pool's " +
             FormatBytes(pool) + " (max_pool_memory_mb); the largest holders are " +
             DescribeHolders(planned.plan.largest_holders, 3));
}

// Returns what each label of a recorded step took, and the most that was live while it took it.
std::vector<LayerMeasurement> LayersOf(const Profile& profile, const MemoryTrace& trace,
                                       const MemoryTimeline& timeline, const BytesByTag& baseline,
                                       const LabelTable& labels) {
  std::vector<LayerMeasurement> layers;
  for (std::size_t label = 0; label < profile.by_label.size(); ++label) {
    const KernelTotals& entry = profile.by_label[label];
    if (entry.launches == 0) continue;
    LayerMeasurement layer{labels.NameOf(static_cast<LabelTable::Id>(label)), entry.seconds,
                           entry.flops, entry.launches, 0};
    for (const Lifetime& life : trace.lifetimes()) {
      if (life.label != label) continue;
      const auto& live = timeline.live[static_cast<std::size_t>(life.begin)];
      layer.peak_live_bytes = std::max(layer.peak_live_bytes, baseline.Total() + live.Total());
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

// A loss of the program's own may take other labels than the layout has.
LabelRule RuleOf(const LossOptions& loss) {
  return {.checked = !loss.function, .ignored = loss.ignore_index};
}

DataSources Looked(DataSources sources, const PlannedTraining& planned) {
  LabelRules labels = {.own = RuleOf(planned.config.loss)};
  for (const NamedTargets& targets : planned.layout.more_targets) {
    LabelRule& rule = labels.more.emplace_back();
    for (const NetworkOutput& output : planned.more_outputs) {
      if (output.options.target == targets.name) rule = RuleOf(output.options.loss);
    }
  }
  return {Checked(std::move(sources.train), planned.layout, labels),
          Checked(std::move(sources.test), planned.layout, labels),
          Checked(std::move(sources.validation), planned.layout, labels)};
}

[[noreturn]] void RefuseEvaluation() {
  throw UsageError({.where = "Model",
                    .required = "data to evaluate on",
                    .given = "the model was made for predictions alone",
                    .advice = "make it by Model::FromFile with evaluates = true"});
}

// Steps are not taken within each other: their memory and their mode would be the other's.
class StepScope {
 public:
  explicit StepScope(bool& in_step) : in_step_(in_step) {
    if (!std::exchange(in_step, true)) return;
    throw UsageError({.where = "Model",
                      .required = "a step ends before another one begins",
                      .given = "a data source, a layer, a loss or a metric uses the model within "
                               "one of its steps",
                      .advice = "use a Predictor there, or another model"});
  }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;
  ~StepScope() { in_step_ = false; }

 private:
  bool& in_step_;
};

Traffic SentOver(const StageLinks& links) {
  Traffic sent = links.pipeline->traffic();
  return sent += links.data->traffic();
}

}  // namespace

LocalExecutor::LocalExecutor(const PlannedTraining& planned, DataSources sources)
    : planned_(planned),
      memory_(planned.config.memory, [](const std::string& text) { LogWarning(text); }),
      page_buffer_(PageBufferOf(planned, memory_)),
      pager_(PagerOf(planned, page_buffer_)),
      store_(memory_.tensors(), memory_.ledger(), StoreOptions(planned, memory_, pager_.get())),
      context_(Context::Parts{.backend = *planned.backend,
                              .ledger = memory_.ledger(),
                              .step_memory = memory_.step(),
                              .parameters = store_,
                              .dtype = planned.dtype(),
                              .seed = planned.seed()}),
      sources_(Looked(std::move(sources), planned)),
      metrics_(planned),
      threads_(planned.threads > 0 ? planned.threads : MostThreads()) {
  if (planned.on_context) planned.on_context(context_);
  if (!planned.stage) {  // else they are those of the whole
    for (const std::string& caution : CautionsAbout(planned)) LogWarning(caution);
  }
  if (memory_.arena() != nullptr) {
    memory_.arena()->ReserveFor(planned.plan.arena_bytes);
    WarnAboutActivationPool(planned);
  }
  const TrainingMemoryConfig& memory = planned.config.memory;
  if (memory.default_initialization_strategy == InitializationStrategy::kFromFile) {
    store_.SetSource(SourceFrom(
        OpenModelWeights(*memory.weights_file_path, memory.weights_file_format, planned.parameters,
                         planned.config.model.allow_missing || planned.stage != nullptr),
        planned.config.training.on_divergence));
  }
  if (const std::int64_t bytes = KeptBufferBytesOf(planned); bytes > 0) {
    const LabelScope label(context_, kStagingLabel);
    kept_buffers_ = Tensor(memory_.tensors(), {bytes}, DType::kU8, MemoryTag::kSnapshot);
  }
  if (const std::int64_t bytes = StagingBytesOf(planned); bytes > 0) {
    const LabelScope label(context_, kStagingLabel);
    staging_ = Tensor(memory_.tensors(), {bytes}, DType::kU8, MemoryTag::kSnapshot);
    store_.set_before_change([this](const Parameter& parameter) { BeforeChange(parameter); });
  }
  if (const std::int64_t most = PagedActivationBytesOf(planned.config.memory); pager_ && most > 0) {
    activation_pager_.emplace(*pager_, most, LeastPagedBytesOf(planned.config.memory));
    context_.set_activation_pager(&*activation_pager_);
  }
  const bool saves = planned.trains() && planned.config.snapshots.directory.has_value();
  if (memory.default_initialization_strategy == InitializationStrategy::kLazy && !saves) return;
  for (const Parameter* parameter : planned.parameters) {
    if (store_.HoldsValue(*parameter)) store_.Materialize(*parameter);
  }
}

std::optional<std::string> LocalExecutor::FindNonFinite() {
  return FirstNonFinite(planned_.parameters, store_);
}

StepLayouts::Layout LocalExecutor::LayoutFor(StepKind kind, std::int64_t batch) {
  const StepPlan* planned = planned_.plan.Find(kind, batch);
  if (planned != nullptr) return {StepLayouts::Layout(), &planned->layout};  // lives as the model
  return layouts_.Of(kind, batch, [&] { return PlanStep(planned_, kind, batch).layout; });
}

// Runs `step` on the memory that was planned for it.
template <class Step>
auto LocalExecutor::RunPlanned(StepKind kind, std::int64_t batch, Step step) {
  const StepScope scope(in_step_);
  const MostThreadsScope threads(threads_);
  PlannedArena* arena = memory_.arena();
  StepLayouts::Layout layout;
  if (arena != nullptr) {
    layout = LayoutFor(kind, batch);
    arena->Begin(*layout);
  }
  if (pager_) pager_->BeginStep(PageKey(kind, batch));
  try {
    auto result = step();
    if (arena != nullptr) arena->End();
    if (pager_) EndPaging(kind, batch);
    return result;
  } catch (...) {
    if (arena != nullptr) arena->Abandon();
    if (pager_) pager_->AbandonStep();
    throw;
  }
}

void LocalExecutor::EndPaging(StepKind kind, std::int64_t batch) {
  pager_->EndStep();
  if (kind == StepKind::kTrain && batch == planned_.schedule.batch) paged_ = pager_->step_traffic();
}

StepParts LocalExecutor::PartsFor(std::span<const std::int64_t> samples) {
  StepParts parts = planned_.step_parts();
  take_outputs_ = [this, count = std::ssize(samples)](const Tensor& outputs, const Tensor& targets,
                                                      double loss) {
    metrics_.Add(outputs, targets, loss, count);
  };
  parts.outputs = &take_outputs_;
  return parts;
}

StepResult LocalExecutor::RunStep(StepKind kind, const StepSamples& samples) {
  const auto batch = std::ssize(samples.numbers);
  if (kind == StepKind::kTrain) KeepBuffers();
  if (planned_.stage) {
    return RunPlanned(kind, batch, [&] { return RunStageStep(kind, samples); });
  }
  const DataSource& source = samples.given != nullptr ? *samples.given : Source(samples.part);
  return RunPlanned(kind, batch, [&] {
    if (kind == StepKind::kEvaluate) {
      return EvaluateStep(context_, PartsFor(samples.numbers), &source, samples.numbers);
    }
    const StepResult result =
        TrainStep(context_, planned_.step_parts(), *planned_.optimizer, &source, samples.numbers);
    context_.set_step(context_.step() + 1);
    return result;
  });
}

StepResult LocalExecutor::RunStageStep(StepKind kind, const StepSamples& samples) {
  const PipelineStage& stage = planned_.stage->stage;
  const DataSource* source = samples.given;
  if (source == nullptr && planned_.stage->reads_data()) source = &Source(samples.part);
  const StepParts parts = PartsFor(samples.numbers);
  if (kind == StepKind::kEvaluate) {
    return EvaluateStage(context_, parts, stage, links_, source, samples.numbers);
  }
  const Traffic before = SentOver(links_);
  std::vector<SlotTime> slots;
  StageLinks links = links_;
  links.slots = &slots;
  const StepResult result =
      TrainStage(context_, parts, stage, links, *planned_.optimizer, source, samples.numbers);
  if (slots.size() == stage.slots.size()) slots_ = std::move(slots);
  const Traffic after = SentOver(links_);
  sent_ += {.messages = after.messages - before.messages, .bytes = after.bytes - before.bytes};
  context_.set_step(context_.step() + 1);
  return result;
}

RecordedStep LocalExecutor::RunRecorded(const StepSamples& samples) {
  MemoryLedger& ledger = memory_.ledger();
  const BytesByTag baseline = ledger.live();
  const std::vector<Holder> before = ledger.Holders();
  MemoryTrace trace(MemoryTrace::Detail::kTensorsAndOperations);
  context_.profile().by_label.clear();
  RecordedStep recorded;
  {
    const RecordingScope recording(ledger, trace);
    recorded.step = RunStep(StepKind::kTrain, samples);
  }
  recorded.timeline = TimelineOf(trace, ledger.labels());
  recorded.layers =
      LayersOf(context_.profile(), trace, recorded.timeline, baseline, ledger.labels());
  recorded.memory.push_back(StepMemoryOf(trace, ledger.labels(), before));
  FillForms(planned_, recorded.memory.back());
  return recorded;
}

PredictedValues LocalExecutor::Predict(std::span<const InputValues> inputs, std::int64_t count) {
  const EmaScope average(*this);
  PredictedValues outputs;
  RunPlanned(StepKind::kPredict, count, [&] {
    if (planned_.stage) {
      PredictStage(context_, planned_.step_parts(), planned_.stage->stage, links_, inputs, count,
                   outputs);
    } else {
      PredictStep(context_, planned_.step_parts(), inputs, count, outputs);
    }
    return true;
  });
  return outputs;
}

void LocalExecutor::SwapEma() {
  for (const Parameter* parameter : HeldParameters()) {
    store_.SwapEma(*parameter, *planned_.backend);
  }
  averaged_ = !averaged_;
}

std::vector<const Parameter*> LocalExecutor::HeldParameters() const {
  std::vector<const Parameter*> held(planned_.parameters.begin(), planned_.parameters.end());
  if (!planned_.stage) return held;
  const PipelineStage& stage = planned_.stage->stage;
  for (const SharedParameter& shared : stage.shared) {
    if (shared.stages.front() != stage.index) held.push_back(shared.parameter);
  }
  return held;
}

const DataSource& LocalExecutor::Source(DatasetPart part) {
  auto& source = part == DatasetPart::kTrain  ? sources_.train
                 : part == DatasetPart::kTest ? sources_.test
                                              : sources_.validation;
  if (source == nullptr) source = OpenSource(part);
  return *source;
}

std::shared_ptr<const DataSource> LocalExecutor::OpenSource(DatasetPart part) {
  const EpochSchedule& schedule = planned_.schedule;
  if (part == DatasetPart::kValidation && planned_.layout.validation_count == 0 &&
      schedule.validation_samples > 0) {
    Source(DatasetPart::kTrain);
    return std::make_shared<SampleRange>(sources_.train, schedule.train_samples,
                                         schedule.validation_samples);
  }
  if (!planned_.trains() && !planned_.dataset) RefuseEvaluation();
  if (!planned_.dataset || !HasPart(*planned_.dataset, part)) {
    throw UsageError({.where = "Model",
                      .required = "the data have the part that is asked for",
                      .given = "they have no " + std::string(NameOf(part)) + " part",
                      .advice = part == DatasetPart::kTrain
                                    ? "give a training source to AiModelBuilder::Data"
                                : part == DatasetPart::kTest
                                    ? "give a test part, or set evaluate to false"
                                    : "set data.validation_fraction, or give a validation source"});
  }
  const LabelScope label(context_, kDataLabel);
  const bool with_inputs = !planned_.stage || planned_.stage->reads.inputs;
  auto source = OpenPart(*planned_.dataset, part,
                         TakeStorage(memory_.tensors(), *planned_.dataset, part, with_inputs));
  if (!IsOfProgram(*planned_.dataset)) return source;
  return Looked({.train = std::move(source)}, planned_).train;
}

void LocalExecutor::CopyValues(Executor& from) {
  for (const Parameter* parameter : HeldParameters()) {
    store_.CopyFrom(from.StoreOf(*parameter), *parameter);
    if (from.averaged()) store_.SwapEma(*parameter, *planned_.backend);
  }
}

MemoryMeasurement LocalExecutor::Measured() const {
  const MemoryLedger& ledger = memory_.ledger();
  MemoryMeasurement measured;
  measured.peak_by_purpose = ledger.peak();
  measured.peak_bytes = ledger.peak_total();
  measured.at_peak = ledger.at_peak();
  measured.arena_bytes = memory_.arena() ? memory_.arena()->capacity_bytes() : 0;
  measured.peak_rss_bytes = PeakResidentBytes();
  measured.pool = memory_.pool_statistics();
  measured.sent = sent_;
  if (pager_) {
    measured.paging = PagingMeasurement{paged_, pager_->total_traffic(), pager_->waited_seconds()};
  }
  return measured;
}

std::vector<DeviceMemory> LocalExecutor::DeviceMemories() const {
  return {{.allocator = memory_.Statistics(), .live = memory_.ledger().LargestHolders()}};
}

}  // namespace frugal
