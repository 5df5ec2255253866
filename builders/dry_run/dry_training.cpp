#include "builders/dry_run/dry_training.h"

#include <algorithm>

#include "builders/config/dataset.h"
#include "builders/setup/paging.h"
#include "builders/setup/snapshot_staging.h"
#include "sdk/memory/recording.h"
#include "sdk/train/stage_step.h"

namespace frugal {
namespace {

// The data set's own memory, held throughout.
std::vector<PartStorage> TakeData(const TrainingSetup& setup, DryEnvironment& environment) {
  if (!setup.dataset || (setup.stage && !setup.stage->reads_data())) return {};
  const LabelScope label(environment.context(), kDataLabel);
  Allocator& memory = environment.tensor_memory();
  std::vector<PartStorage> storage;
  const bool with_inputs = !setup.stage || setup.stage->reads.inputs;
  if (setup.trains()) {
    storage.push_back(TakeStorage(memory, *setup.dataset, DatasetPart::kTrain, with_inputs));
  }
  if (setup.schedule.test_samples > 0) {
    storage.push_back(TakeStorage(memory, *setup.dataset, DatasetPart::kTest, with_inputs));
  }
  return storage;
}

// Numbers that a dry step only counts.
std::span<const std::int64_t> SamplesWithoutStorage(std::int64_t count) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {reinterpret_cast<const std::int64_t*>(kDryMemoryBegin), static_cast<std::size_t>(count)};
}

// Runs a step of a device among several.
void RunDryStage(const TrainingSetup& setup, const StepParts& parts, Context& context,
                 StepKind kind, std::span<const std::int64_t> samples,
                 std::vector<DataExchange>& exchanges) {
  const PipelineStage& stage = setup.stage->stage;
  StageLinks links;
  links.exchanges = &exchanges;
  if (kind == StepKind::kPredict) {
    PredictedValues none;
    return PredictStage(context, parts, stage, links, {}, std::ssize(samples), none);
  }
  if (kind == StepKind::kEvaluate) {
    EvaluateStage(context, parts, stage, links, nullptr, samples);
    return;
  }
  TrainStage(context, parts, stage, links, *setup.optimizer, nullptr, samples);
  context.set_step(context.step() + 1);
}

void RunDryStep(const TrainingSetup& setup, const Trial& trial, DryEnvironment& environment,
                StepKind kind, std::int64_t batch, std::vector<DataExchange>& exchanges) {
  exchanges.clear();
  const StepParts parts = StepPartsOf(setup, trial);
  const std::span<const std::int64_t> samples = SamplesWithoutStorage(batch);
  if (setup.stage) {
    return RunDryStage(setup, parts, environment.context(), kind, samples, exchanges);
  }
  if (kind == StepKind::kPredict) {
    PredictedValues none;
    PredictStep(environment.context(), parts, {}, batch, none);
    return;
  }
  if (kind == StepKind::kEvaluate) {
    EvaluateStep(environment.context(), parts, nullptr, samples);
    return;
  }
  TrainStep(environment.context(), parts, *setup.optimizer, nullptr, samples);
  environment.context().set_step(environment.context().step() + 1);
}

// Finds the buffers that are live at the step's peak, each of at least a hundredth of what it takes
// there.
std::vector<SimultaneousBuffers> SimultaneousAtPeak(const MemoryTimeline& timeline,
                                                    const MemoryTrace& trace,
                                                    const LabelTable& labels) {
  if (timeline.live.empty()) return {};
  const std::int64_t peak = timeline.live[timeline.peak_event].Total();
  return FindSimultaneousBuffers(trace, labels, timeline.peak_event,
                                 std::max<std::int64_t>(1, peak / 100));
}

}  // namespace

std::vector<PlannedStep> StepsOf(const EpochSchedule& schedule) {
  std::vector<PlannedStep> steps;
  if (schedule.predict_batch > 0) steps.push_back({StepKind::kPredict, schedule.predict_batch, 2});
  const std::int64_t full = schedule.train_samples / schedule.batch;
  const std::int64_t rest = schedule.drop_last ? 0 : schedule.train_samples % schedule.batch;
  const std::int64_t epochs = schedule.total_steps / schedule.steps_per_epoch;
  const std::int64_t tail = schedule.total_steps % schedule.steps_per_epoch;
  const std::int64_t full_steps = epochs * full + std::min(tail, full);
  const auto add = [&](StepKind kind, std::int64_t batch, std::int64_t times) {
    if (batch == 0 || times == 0) return;
    const bool is_known = std::ranges::any_of(
        steps, [&](const PlannedStep& step) { return step.kind == kind && step.batch == batch; });
    if (!is_known) steps.push_back({kind, batch, std::min<std::int64_t>(times, 2)});
  };
  add(StepKind::kTrain, schedule.batch, full_steps);
  add(StepKind::kTrain, rest, epochs);
  for (const std::int64_t samples : {schedule.test_samples, schedule.validation_samples}) {
    add(StepKind::kEvaluate, schedule.evaluation_batch, samples / schedule.evaluation_batch);
    add(StepKind::kEvaluate, samples % schedule.evaluation_batch, 1);
  }
  return steps;
}

DryTraining::DryTraining(const TrainingSetup& setup, Trial trial, LabelTable::Keeps names)
    : setup_(setup),
      trial_(std::move(trial)),
      environment_(*setup.backend, setup.dtype(),
                   {.names = names,
                    .step_gradients = trial_.updates_in_backward(),
                    .shards = setup.stage ? &setup.stage->stage.shards : nullptr,
                    .paging = PagingBy(nullptr, trial_.settings.paged, setup.config.memory)}),
      data_(TakeData(setup, environment_)) {
  if (const std::int64_t bytes = KeptBufferBytesOf(setup); bytes > 0) {
    const LabelScope label(environment_.context(), kStagingLabel);
    kept_buffers_ = Tensor(environment_.tensor_memory(), {bytes}, DType::kU8, MemoryTag::kSnapshot);
  }
  if (const std::int64_t bytes = StagingBytesOf(setup); bytes > 0) {
    const LabelScope label(environment_.context(), kStagingLabel);
    staging_ = Tensor(environment_.tensor_memory(), {bytes}, DType::kU8, MemoryTag::kSnapshot);
  }
  const StepSettings& settings = trial_.settings;
  if (settings.pages()) {
    page_buffer_ = TakePageBuffer(settings.page_buffer_bytes, environment_.tensor_memory(),
                                  environment_.ledger());
  }
  if (settings.paged_activation_bytes > 0) {
    environment_.PageActivations(settings.paged_activation_bytes,
                                 LeastPagedBytesOf(setup.config.memory));
  }
  const auto strategy = setup.config.memory.default_initialization_strategy;
  const bool saves = setup.trains() && setup.config.snapshots.directory.has_value();
  if (strategy != InitializationStrategy::kLazy || saves) MaterializeValues();
}

void DryTraining::MaterializeValues() {
  ParameterStore& store = environment_.store();
  for (const Parameter* parameter : setup_.parameters) {
    if (store.HoldsValue(*parameter)) store.Materialize(*parameter);
  }
}

std::vector<Holder> DryTraining::TraceInto(MemoryTrace& trace, StepKind kind, std::int64_t batch,
                                           std::int64_t times) {
  const DryMemoryGuard guard(environment_.ledger());  // others may have been made since
  const auto run = [&] {
    environment_.pager().BeginStep(0);
    RunDryStep(setup_, trial_, environment_, kind, batch, exchanges_);
    environment_.pager().EndStep();
  };
  for (std::int64_t i = 1; i < times; ++i) run();
  baseline_ = environment_.ledger().live();
  environment_.context().profile() = {};
  std::vector<Holder> before;
  if (trace.has_operations()) before = environment_.ledger().Holders();
  const RecordingScope recording(environment_.ledger(), trace);
  run();
  return before;
}

const std::vector<std::int64_t>& DryTraining::CountContributions(std::int64_t batch) {
  trial_.final_after.clear();
  Trace(StepKind::kTrain, batch, 1);
  trial_.final_after = Contributions();
  environment_.store().FreeGradients();
  return trial_.final_after;
}

std::vector<std::int64_t> DryTraining::Contributions() {
  std::vector<std::int64_t> counts = environment_.store().Contributions();
  counts.resize(setup_.parameters.size());
  return counts;
}

// A first step in bf16 leaves packed weights too, groups leave their sums, and lazy weights are
// those that it asked for.
bool DryTraining::TakeWhatStays(std::span<const std::int64_t> contributions) {
  const bool is_lazy =
      setup_.config.memory.default_initialization_strategy == InitializationStrategy::kLazy;
  if (is_lazy || setup_.stage || trial_.settings.pages() || setup_.dtype() != DType::kF32 ||
      StepPartsOf(setup_, trial_).reduction_groups > 1) {
    return false;
  }
  ParameterStore& store = environment_.store();
  for (const Parameter* parameter : setup_.parameters) {
    const bool is_trained = contributions.empty()
                                ? parameter->trainable
                                : contributions[static_cast<std::size_t>(parameter->index)] > 0;
    if (!is_trained) continue;
    if (!trial_.updates_in_backward()) store.GradientFor(*parameter);
    setup_.optimizer->TakeState(environment_.context(), *parameter);
  }
  store.ClearGradients();
  environment_.context().set_step(1);
  return true;
}

std::int64_t DryTraining::PagedActivationBytes() {
  std::int64_t bytes = 0;
  for (const Holder& kept : environment_.PagedActivations()) bytes += kept.bytes;
  return bytes;
}

std::optional<PagingPlan> DryTraining::Paging() {
  if (!trial_.settings.pages()) return std::nullopt;
  return PagingPlan{.file = PageFileOf(setup_.config.memory, setup_.stage.get()),
                    .file_bytes = environment_.pager().file_bytes(),
                    .buffer_bytes = page_buffer_.bytes(),
                    .tensors = environment_.store().PagedTensors(),
                    .activations = environment_.PagedActivations()};
}

StepMemory DryTraining::Memory(StepKind kind, std::int64_t batch, std::int64_t times,
                               std::size_t most_placed) {
  MemoryTrace trace(MemoryTrace::Detail::kTensorsAndOperations);
  const std::vector<Holder> before = TraceInto(trace, kind, batch, times);
  const LabelTable& labels = environment_.ledger().labels();
  StepMemory memory = StepMemoryOf(trace, labels, before);
  AddPlacement(trace, labels, PlaceInArena(trace), most_placed, memory);
  return memory;
}

StepPlan DryTraining::Run(StepKind kind, std::int64_t batch, std::int64_t times) {
  const MemoryTrace trace = Trace(kind, batch, times);
  StepPlan plan;
  plan.kind = kind;
  plan.batch = batch;
  plan.baseline = baseline_;
  plan.layout = PlaceInArena(trace);
  plan.timeline = TimelineOf(trace, environment_.ledger().labels());
  plan.side_by_side = SimultaneousAtPeak(plan.timeline, trace, environment_.ledger().labels());
  plan.exchanges = exchanges_;
  plan.paged = environment_.pager().step_traffic();
  plan.flops = environment_.context().profile().flops;
  plan.recomputed_flops = environment_.context().profile().recomputed_flops;
  plan.launches = environment_.context().profile().launches;
  return plan;
}

VarTuple InputsOf(const NetworkInputs& inputs, std::int64_t count, DType dtype, Context& context) {
  VarTuple vars;
  for (const NetworkInput& input : inputs) {
    vars.push_back({context.Allocate(BatchShape(input, count), TypeOf(input, dtype))});
  }
  return vars;
}

VarTuple InputsOf(const TrainingSetup& setup, const Trial& trial, Context& context) {
  const std::int64_t count = MicroBatchSize(trial.schedule.batch, trial.settings.micro_batches, 0);
  if (setup.stage && !setup.stage->stage.is_first()) {
    Tape* tape = context.tape();
    return InputsBehind(setup.stage->stage.before(count), context, tape);
  }
  return InputsOf(setup.inputs, count, setup.dtype(), context);
}

Trial TrialWith(const TrainingSetup& setup, const StepSettings& settings) {
  Trial trial{.settings = settings, .schedule = setup.schedule};
  trial.schedule.evaluation_batch = settings.evaluation_batch;
  return trial;
}

namespace {

std::vector<std::int64_t> ContributionsOfStage(const TrainingSetup& setup, const Trial& trial) {
  const PipelineStage& stage = setup.stage->stage;
  DryEnvironment environment(*setup.backend, setup.dtype());
  TrainStage(environment.context(), StepPartsOf(setup, trial.settings, {}), stage, {},
             *setup.optimizer, nullptr, SamplesWithoutStorage(trial.schedule.batch));
  return environment.store().Contributions();
}

}  // namespace

bool UpdatesInBackwardOf(const TrainingSetup& setup, const StepSettings& settings) {
  if (!settings.optimizer_in_backward || setup.optimizer->clips()) return false;
  if (StepPartsOf(setup, settings, {}).reduction_groups > 1) return false;
  if (!setup.stage) return true;
  // Gradients that other devices add to are not final in the backward pass.
  const PipelineStage& stage = setup.stage->stage;
  return stage.data_count == 1 && stage.shared.empty();
}

std::vector<std::int64_t> ContributionsFor(const TrainingSetup& setup, const Trial& trial) {
  if (!UpdatesInBackwardOf(setup, trial.settings)) return {};
  if (setup.stage) return ContributionsOfStage(setup, trial);
  // Each part of a batch adds as often as the others of its size, of which there are two.
  const std::int64_t batch = trial.schedule.batch, parts = trial.settings.micro_batches;
  StepSettings whole = trial.settings;
  whole.micro_batches = 1;
  const StepParts step = StepPartsOf(setup, whole, {});
  std::vector<std::int64_t> sum(setup.parameters.size());
  const auto add = [&](std::int64_t size, std::int64_t times) {
    if (size == 0 || times == 0) return;
    DryEnvironment environment(*setup.backend, setup.dtype());
    TrainStep(environment.context(), step, *setup.optimizer, nullptr, SamplesWithoutStorage(size));
    const std::vector<std::int64_t> once = environment.store().Contributions();
    for (std::size_t i = 0; i < once.size(); ++i) sum[i] += once[i] * times;
  };
  add(batch / parts + 1, batch % parts);
  add(batch / parts, parts - batch % parts);
  return sum;
}

std::vector<std::int64_t> SummedContributionsFor(const TrainingSetup& setup, const Trial& trial) {
  if (!setup.stage || setup.stage->stage.data_count == 1) return {};
  return ContributionsOfStage(setup, trial);
}

}  // namespace frugal
