#include "builders/plan/device_planner.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "builders/config/sharding_rules.h"
#include "builders/plan/one_device_planner.h"
#include "builders/setup/stage_preparation.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

const DataLayout* OwnLayout(const TrainingSetup& setup) {
  return setup.dataset ? nullptr : &setup.layout;
}

PlannedTraining PlanDevice(const TrainingSetup& whole, const Placement& placement,
                           std::int64_t device) {
  return PlanOneDevice(PrepareStage(whole.config, OwnLayout(whole), placement, device));
}

// Plans ranges of layers on stages, each once.
class RangePlanner {
 public:
  explicit RangePlanner(const TrainingSetup& whole)
      : whole_(whole),
        mesh_(MeshOf(whole.config)),
        layers_(static_cast<std::int64_t>(whole.network->size())) {}

  std::int64_t operator()(std::int64_t stage, const LayerRange& range) {
    // The last layer is on the last stage, so nothing else is ever taken.
    if ((stage + 1 == mesh_.pipeline) != (range.end == layers_)) return 0;
    const auto key = std::tuple(stage, range.begin, range.end);
    const auto found = bytes_.find(key);
    if (found != bytes_.end()) return found->second;
    const std::int64_t bytes = PlanDevice(whole_, Around(stage, range), stage).plan.peak_bytes;
    return bytes_.emplace(key, bytes).first->second;
  }

 private:
  // Its own layers alone say how much a stage needs: its neighbours get all others.
  Placement Around(std::int64_t stage, const LayerRange& range) const {
    Placement placement;
    for (std::int64_t i = 0; i < mesh_.pipeline; ++i) {
      placement.push_back(i < stage ? LayerRange{range.begin, range.begin}
                                    : LayerRange{layers_, layers_});
    }
    if (stage > 0) placement.front().begin = 0;
    placement[static_cast<std::size_t>(stage)] = range;
    if (stage + 1 < mesh_.pipeline) {
      placement[static_cast<std::size_t>(stage) + 1].begin = range.end;
    }
    return placement;
  }

  const TrainingSetup& whole_;
  DeviceMesh mesh_;
  std::int64_t layers_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> bytes_;
};

Placement PlacementOf(const TrainingSetup& setup) {
  const TrainingMemoryConfig& memory = setup.config.memory;
  const auto layers = static_cast<std::int64_t>(setup.network->size());
  const std::int64_t stages = MeshOf(setup.config).pipeline;
  switch (memory.sharding_strategy) {
    case ShardingStrategy::kEvenSplit:
      return EvenSplit(layers, stages);
    case ShardingStrategy::kMemoryBalanced: {
      RangePlanner plan(setup);
      return MemoryBalanced(layers, stages, std::ref(plan));
    }
    case ShardingStrategy::kCustom:
      break;
  }
  return CustomPlacement(layers, stages, *memory.custom_device_assignments);
}

// Segments are numbered through all stages.
void AppendLayers(const std::vector<LayerPlan>& own, std::vector<LayerPlan>& all) {
  int next = 0;
  for (const LayerPlan& layer : all) {
    next = std::max(
        {next, layer.segment + 1, layer.inner_segments.first + layer.inner_segments.count});
  }
  for (LayerPlan layer : own) {
    if (layer.segment >= 0) layer.segment += next;
    if (layer.inner_segments.count > 0) layer.inner_segments.first += next;
    all.push_back(std::move(layer));
  }
}

void Add(const StepPlan& from, StepPlan& to) {
  to.flops += from.flops;
  to.recomputed_flops += from.recomputed_flops;
}

// Sums up what the devices take; steps and holders are those of the device that takes most.
void SumUp(PlannedTraining& whole) {
  Plan& plan = whole.plan;
  plan.parameter_count = 0;
  const PlannedTraining& largest = *std::ranges::max_element(
      whole.devices, {}, [](const PlannedTraining& one) { return one.plan.peak_bytes; });
  plan.total_steps = largest.plan.total_steps;
  plan.steps = largest.plan.steps;
  plan.largest_holders = largest.plan.largest_holders;
  for (StepPlan& step : plan.steps) step.flops = step.recomputed_flops = 0;
  for (const PlannedTraining& device : whole.devices) {
    const Plan& own = device.plan;
    for (const MemoryTag tag : kAllMemoryTags) {
      plan.peak_by_purpose[tag] += own.peak_by_purpose[tag];
      plan.at_peak[tag] += own.at_peak[tag];
    }
    plan.peak_bytes += own.peak_bytes;
    plan.arena_bytes += own.arena_bytes;
    plan.live_lower_bound_bytes += own.live_lower_bound_bytes;
    plan.arena_kept_bytes += own.arena_kept_bytes;
    for (StepPlan& step : plan.steps) {
      if (const StepPlan* same = own.Find(step.kind, step.batch)) Add(*same, step);
    }
    if (device.stage->stage.data_index > 0) continue;
    plan.parameter_count += own.parameter_count;
    plan.trainable_count += own.trainable_count;
    AppendLayers(own.layers, plan.layers);
  }
}

DevicePlan Describe(const PlannedTraining& device) {
  const PipelineStage& stage = device.stage->stage;
  const Plan& plan = device.plan;
  const std::int64_t batch = device.schedule.batch;
  const StepPlan* step = plan.Find(StepKind::kTrain, batch);
  return {.replica = stage.data_index,
          .stage = stage.index,
          .first_layer = plan.layers.front().path,
          .last_layer = plan.layers.back().path,
          .layers = std::ssize(plan.layers),
          .parameters = plan.parameter_count,
          .in_flight = MostInFlight(stage.slots),
          .peak_bytes = plan.peak_bytes,
          .at_peak = plan.at_peak,
          .flops = step != nullptr ? step->flops : 0,
          .sent = TrafficOf(stage, device.parameters, batch, MasterType(device.dtype()),
                            device.optimizer->clips())};
}

// Backward takes twice the work of forward, beside what runs again.
StageSeconds SecondsOf(const PlannedTraining& device) {
  const StepPlan* step = device.plan.Find(StepKind::kTrain, device.schedule.batch);
  if (step == nullptr) return {};
  const double parts = 1e9 * static_cast<double>(device.stage->stage.micro_batches);
  const double forward = (step->flops - step->recomputed_flops) / 3;
  return {.forward = forward / parts,
          .input_gradient = (forward + step->recomputed_flops) / parts,
          .weight_gradient = forward / parts};
}

DevicesPlan Describe(const PlannedTraining& whole, const std::vector<PlannedTraining>& devices) {
  const PipelineStage& first = devices.front().stage->stage;
  DevicesPlan plan;
  plan.replicas = first.data_count;
  plan.stages = first.count;
  plan.micro_batches = first.micro_batches;
  plan.threads = ThreadCount();
  plan.schedule = ScheduleOf(whole.config);
  PipelineCosts costs;
  for (const PlannedTraining& device : devices) {
    plan.devices.push_back(Describe(device));
    if (device.stage->stage.data_index == 0) costs.stages.push_back(SecondsOf(device));
  }
  plan.times = SimulatePipeline(plan.schedule, costs);
  return plan;
}

std::string LayersText(const PlannedTraining& device) {
  const auto& layers = device.plan.layers;
  if (layers.size() == 1) return "layer " + layers.front().path;
  return "layers " + layers.front().path + " to " + layers.back().path;
}

void CheckDeviceLimits(const PlannedTraining& whole) {
  const auto limit_mb = whole.config.memory.max_memory_per_device_mb;
  if (!limit_mb) return;
  for (std::size_t i = 0; i < whole.devices.size(); ++i) {
    const PlannedTraining& device = whole.devices[i];
    if (device.plan.peak_bytes <= *limit_mb * kBytesPerMegabyte) continue;
    const bool balanced =
        whole.config.memory.sharding_strategy == ShardingStrategy::kMemoryBalanced;
    const Diagnostic diagnostic = {
        .where = "memory.max_memory_per_device_mb",
        .required = "every device stays within " + FormatBytes(*limit_mb * kBytesPerMegabyte),
        .given = "device " + std::to_string(i) + " with " + LayersText(device) + " peaks at " +
                 FormatBytes(device.plan.peak_bytes) + "; its largest holders are " +
                 DescribeHolders(device.plan.largest_holders, 3),
        .advice = balanced ? "no placement needs less: use more devices, gradient checkpointing, "
                             "a smaller batch or a higher limit"
                           : "try sharding_strategy = \"MemoryBalanced\", more devices, gradient "
                             "checkpointing, a smaller batch or a higher limit"};
    throw MemoryError(diagnostic, whole.config.origins.PlaceOf(diagnostic.where));
  }
}

}  // namespace

PlannedTraining PlanDevices(TrainingSetup setup) {
  const Placement placement = PlacementOf(setup);
  PlannedTraining planned{std::move(setup), Plan()};
  for (std::int64_t device = 0; device < MeshOf(planned.config).devices(); ++device) {
    planned.devices.push_back(PlanDevice(planned, placement, device));
  }
  SumUp(planned);
  planned.plan.devices = Describe(planned, planned.devices);
  CheckDeviceLimits(planned);
  return planned;
}

}  // namespace frugal
