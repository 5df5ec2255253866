#include "builders/planner.h"

#include <algorithm>

#include "builders/checkpoint_policy.h"
#include "builders/dry_world.h"
#include "presets/memory_rules.h"
#include "sdk/core/byte_size.h"
#include "sdk/memory/recording.h"

namespace frugal {
namespace {

using std::int64_t;

void RunDryStep(const Blueprint& blueprint, DryWorld& world, StepKind kind, int64_t batch) {
  const std::vector<int64_t> samples = FirstSamples(batch);
  if (kind == StepKind::kPredict) {
    std::vector<float> none;
    PredictStep(world.context(), blueprint.step_parts(), {}, batch, none);
    return;
  }
  if (kind == StepKind::kEvaluate) {
    EvaluateStep(world.context(), blueprint.step_parts(), nullptr, samples);
    return;
  }
  TrainStep(world.context(), blueprint.step_parts(), *blueprint.optimizer, nullptr, samples);
  world.context().set_step(world.context().step() + 1);
}

StepPlan RecordStep(const Blueprint& blueprint, DryWorld& world, StepKind kind, int64_t batch) {
  StepPlan plan;
  plan.kind = kind;
  plan.batch = batch;
  plan.baseline = world.ledger().live();
  MemoryTrace trace;
  world.context().profile() = {};
  {
    const RecordingScope recording(world.ledger(), trace);
    RunDryStep(blueprint, world, kind, batch);
  }
  plan.layout = PlaceInArena(trace);
  plan.timeline = TimelineOf(trace, world.ledger().labels());
  plan.flops = world.context().profile().flops;
  plan.recomputed_flops = world.context().profile().recomputed_flops;
  return plan;
}

// A batch of inputs, or the largest part of one that goes through at a time.
Tensor InputsOf(const Blueprint& blueprint, Context& context) {
  const std::int64_t count =
      MicroBatchSize(blueprint.program.batch, blueprint.config.training.accumulate, 0);
  return context.Allocate(blueprint.layout.BatchShape(count),
                          blueprint.layout.InputType(blueprint.dtype()));
}

// What each layer keeps for backward: what it took in a forward pass that is still live at its end.
KeptBytes MeasureKept(const Blueprint& blueprint) {
  DryWorld world(*blueprint.backend, blueprint.dtype());
  Context& context = world.context();
  context.set_training(true);
  MemoryTrace trace;
  const RecordingScope recording(world.ledger(), trace);
  Tape tape;
  const TapeScope scope(context, &tape);
  { (*blueprint.network)(context, {InputsOf(blueprint, context), Var::kNoGradient}); }
  KeptBytes kept;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.end != kStillLive || !life.in_arena) continue;
    std::string path = world.ledger().labels().NameOf(life.label);
    for (;; path.resize(path.rfind('.'))) {
      kept[path] += life.bytes;
      if (path.find('.') == std::string::npos) break;
    }
  }
  return kept;
}

CheckpointOptions CheckpointOptionsOf(const TrainingMemoryConfig& memory) {
  return {.enabled = memory.use_gradient_checkpointing,
          .every_n_layers = memory.checkpoint_every_n_layers,
          .attention_layers = memory.checkpoint_attention_layers,
          .residual_blocks = memory.checkpoint_residual_blocks,
          .kept_bytes_threshold = memory.high_activation_memory_threshold_bytes};
}

// Numbers run in order of the layers, so those inside one layer follow each other.
SegmentRange SegmentsInside(const std::map<std::string, int>& numbers, const std::string& path) {
  SegmentRange range;
  int last = -1;
  for (const auto& [inside, number] : numbers) {
    if (!inside.starts_with(path + ".")) continue;
    range.first = last < 0 ? number : std::min(range.first, number);
    last = std::max(last, number);
  }
  range.count = last < 0 ? 0 : last - range.first + 1;
  return range;
}

void DescribeLayers(Blueprint& blueprint, const KeptBytes& kept) {
  const std::map<std::string, int> segments = SegmentNumbers(*blueprint.network);
  DryWorld world(*blueprint.backend, blueprint.dtype());
  Context& context = world.context();
  context.set_training(true);
  Var x = {InputsOf(blueprint, context), Var::kNoGradient};
  for (std::size_t i = 0; i < blueprint.network->size(); ++i) {
    Layer& layer = blueprint.network->layer(i);
    x = layer(context, x);
    const auto keeps = kept.find(layer.path());
    const auto segment = segments.find(layer.path());
    blueprint.plan.layers.push_back({.path = layer.path(),
                                     .description = layer.Describe(),
                                     .output = x.shape(),
                                     .parameters = layer.ParameterCount(),
                                     .kept_bytes = keeps == kept.end() ? 0 : keeps->second,
                                     .segment = segment == segments.end() ? -1 : segment->second,
                                     .inner_segments = SegmentsInside(segments, layer.path())});
  }
}

// The data set's own memory, held throughout.
std::vector<PartStorage> TakeData(const Blueprint& blueprint, Allocator& memory) {
  if (!blueprint.dataset) return {};
  std::vector<PartStorage> storage;
  storage.push_back(TakeStorage(memory, *blueprint.dataset, DatasetPart::kTrain));
  if (blueprint.program.test_samples > 0) {
    storage.push_back(TakeStorage(memory, *blueprint.dataset, DatasetPart::kTest));
  }
  return storage;
}

void MaterializeAll(const Blueprint& blueprint, ParameterStore& store) {
  const auto strategy = blueprint.config.memory.default_initialization_strategy;
  if (strategy == InitializationStrategy::kLazy) return;
  for (const Parameter* parameter : blueprint.parameters) store.Value(*parameter);
}

// Whether gradients can be used as soon as they are final, and when that is: a dry step counts what
// each is made of.
void ChooseUpdates(Blueprint& blueprint) {
  if (!blueprint.config.memory.optimizer_in_backward || blueprint.optimizer->clips()) return;
  DryWorld world(*blueprint.backend, blueprint.dtype());
  RunDryStep(blueprint, world, StepKind::kTrain, blueprint.program.batch);
  blueprint.final_after = world.store().Contributions();
}

std::int64_t GradientBytes(const Blueprint& blueprint) {
  return blueprint.plan.trainable_count * SizeOf(ExactType(blueprint.dtype()));
}

void AddUpdateNotes(Blueprint& blueprint) {
  const TrainingMemoryConfig& memory = blueprint.config.memory;
  std::vector<std::string>& notes = blueprint.plan.notes;
  const std::string bytes = FormatBytes(GradientBytes(blueprint));
  if (memory.optimizer_in_backward && blueprint.optimizer->clips()) {
    notes.push_back(
        "optimizer_in_backward saves nothing with clip_gradient_norm: the norm of all "
        "gradients must be known before the first update, so all " +
        bytes + " of them are kept until then");
  } else if (blueprint.updates_in_backward() && blueprint.config.training.accumulate > 1) {
    notes.push_back("optimizer_in_backward frees gradients in the last of the " +
                    std::to_string(blueprint.config.training.accumulate) +
                    " parts of a batch; until then all " + bytes + " of them add up");
  }
}

void AddNotes(Blueprint& blueprint) {
  const TrainingMemoryConfig& memory = blueprint.config.memory;
  std::vector<std::string>& notes = blueprint.plan.notes;
  if (memory.use_pipeline_parallelism) {
    notes.push_back("pipeline: one device is one stage, so the batch is not split into its " +
                    std::to_string(memory.micro_batch_count) + " micro-batches");
  } else if (memory.micro_batch_count != TrainingMemoryConfig().micro_batch_count) {
    notes.push_back("micro_batch_count = " + std::to_string(memory.micro_batch_count) +
                    " takes effect with a pipeline over several devices; here there is none");
  }
  if (memory.sharding_strategy != ShardingStrategy::kEvenSplit) {
    notes.emplace_back("sharding_strategy: with one device every strategy puts all layers on it");
  }
}

void FillTotals(Blueprint& blueprint, const MemoryLedger& ledger) {
  Plan& plan = blueprint.plan;
  plan.parameter_count = blueprint.network->ParameterCount();
  for (const Parameter* parameter : blueprint.parameters) {
    if (parameter->trainable) plan.trainable_count += parameter->shape.ElementCount();
  }
  plan.total_steps = blueprint.program.total_steps;
  plan.peak_by_purpose = ledger.peak();
  plan.peak_bytes = ledger.peak_total();
  plan.at_peak = ledger.at_peak();
  for (const StepPlan& step : plan.steps) {
    plan.arena_bytes = std::max(plan.arena_bytes, step.layout.arena_bytes);
    plan.live_lower_bound_bytes =
        std::max(plan.live_lower_bound_bytes, step.layout.lower_bound_bytes);
  }
  const TrainingMemoryConfig& memory = blueprint.config.memory;
  if (!memory.use_activation_pooling) return;
  plan.arena_kept_bytes = std::min(plan.arena_bytes, memory.max_pool_memory_mb * kBytesPerMegabyte);
}

// What a step holds at its peak, with what is live around it.
std::vector<Holder> HoldersWithBaseline(const StepPlan& step) {
  std::vector<Holder> holders = step.timeline.holders_at_peak;
  for (const MemoryTag tag : kAllMemoryTags) {
    if (step.baseline[tag] > 0) {
      holders.push_back({"all " + std::string(NameOf(tag)), tag, step.baseline[tag]});
    }
  }
  return MergeHolders(std::move(holders));
}

}  // namespace

std::vector<PlannedStep> StepsOf(const TrainingProgram& program) {
  std::vector<PlannedStep> steps;
  const int64_t full = program.train_samples / program.batch;
  const int64_t rest = program.drop_last ? 0 : program.train_samples % program.batch;
  const int64_t epochs = program.total_steps / program.steps_per_epoch;
  const int64_t tail = program.total_steps % program.steps_per_epoch;
  const int64_t full_steps = epochs * full + std::min(tail, full);
  const auto add = [&](StepKind kind, int64_t batch, int64_t times) {
    if (batch > 0 && times > 0) steps.push_back({kind, batch, std::min<int64_t>(times, 2)});
  };
  add(StepKind::kTrain, program.batch, full_steps);
  add(StepKind::kTrain, rest, epochs);
  const int64_t test_full = program.test_samples / program.evaluation_batch;
  add(StepKind::kEvaluate, program.evaluation_batch, test_full);
  add(StepKind::kEvaluate, program.test_samples % program.evaluation_batch, 1);
  return steps;
}

void MakePlan(Blueprint& blueprint) {
  const KeptBytes kept = MeasureKept(blueprint);
  SetCheckpointSegments(*blueprint.network, CheckpointOptionsOf(blueprint.config.memory), kept);
  DescribeLayers(blueprint, kept);
  ChooseUpdates(blueprint);
  DryWorld world(*blueprint.backend, blueprint.dtype(), 0, blueprint.updates_in_backward());
  const std::vector<PartStorage> data = TakeData(blueprint, world.tensor_memory());
  MaterializeAll(blueprint, world.store());
  for (const PlannedStep& step : StepsOf(blueprint.program)) {
    for (int64_t i = 1; i < step.times; ++i) RunDryStep(blueprint, world, step.kind, step.batch);
    blueprint.plan.steps.push_back(RecordStep(blueprint, world, step.kind, step.batch));
  }
  FillTotals(blueprint, world.ledger());
  blueprint.plan.largest_holders = HoldersWithBaseline(blueprint.plan.steps.front());
  AddNotes(blueprint);
  AddUpdateNotes(blueprint);
  for (std::string& note : IdleMemoryFields(blueprint.config.memory, blueprint.config.origins)) {
    blueprint.plan.notes.push_back(std::move(note));
  }
}

StepPlan PlanStep(const Blueprint& blueprint, StepKind kind, int64_t batch) {
  DryWorld world(*blueprint.backend, blueprint.dtype(), 0, blueprint.updates_in_backward());
  for (const Parameter* parameter : blueprint.parameters) world.store().Value(*parameter);
  // Packed weights are there too once anything has run.
  if (blueprint.dtype() == DType::kBF16) RunDryStep(blueprint, world, kind, batch);
  return RecordStep(blueprint, world, kind, batch);
}

}  // namespace frugal
