#include "builders/plan/device_planner.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "builders/config/sharding_rules.h"
#include "builders/plan/device_totals.h"
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

// Lists what a replica alone holds of a stage: numbers of parameters or, where its bytes alone
// matter, sizes. `first` is the first replica's device of that stage.
std::vector<std::int64_t> HeldAlone(const PlannedTraining& first, std::int64_t replica) {
  const ParameterShards& shards = first.stage->stage.shards;
  std::vector<std::int64_t> held;
  for (const Parameter* parameter : first.parameters) {
    if (shards.HolderOf(*parameter) != replica) continue;
    held.push_back(shards.stage == 1 ? parameter->shape.ElementCount()
                                     : static_cast<std::int64_t>(parameter->index));
  }
  if (shards.stage == 1) std::ranges::sort(held);
  return held;
}

// Names what a device's plan depends on, beside the configuration: its stage, whether it evaluates,
// how many samples its micro-batches have, and what it holds alone. A device that is to run has a
// plan of its own. `first` is the first replica's device of its stage, or null for that one.
std::vector<std::int64_t> KindOf(const TrainingSetup& setup, std::int64_t device,
                                 PlanPurpose purpose, const PlannedTraining* first) {
  if (purpose == PlanPurpose::kRun) return {device};
  const DeviceMesh mesh = MeshOf(setup.config);
  const std::int64_t replica = device / mesh.pipeline;
  const std::int64_t each = MicroBatchesOf(setup.config), parts = mesh.data * each;
  std::vector<std::int64_t> kind = {device % mesh.pipeline, replica == 0 ? 1 : 0};
  const EpochSchedule& schedule = setup.schedule;
  for (const std::int64_t batch : {schedule.batch, schedule.train_samples % schedule.batch}) {
    // The first micro-batches have a sample more.
    kind.push_back(std::clamp<std::int64_t>(batch % parts - replica * each, 0, each));
  }
  if (first != nullptr) std::ranges::copy(HeldAlone(*first, replica), std::back_inserter(kind));
  return kind;
}

std::string LayersText(const PlannedTraining& device) {
  const auto& layers = device.plan.layers;
  if (layers.size() == 1) return "layer " + layers.front().path;
  return "layers " + layers.front().path + " to " + layers.back().path;
}

void CheckDeviceLimits(const PlannedTraining& whole, const DeviceList& devices) {
  const auto limit_mb = whole.config.memory.max_memory_per_device_mb;
  if (!limit_mb) return;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const PlannedTraining& device = *devices[i];
    if (device.plan.peak_bytes <= *limit_mb * kBytesPerMegabyte) continue;
    const bool balanced =
        whole.config.memory.sharding_strategy == ShardingStrategy::kMemoryBalanced;
    const Diagnostic diagnostic = {
        .where = "memory.max_memory_per_device_mb",
        .required = "every device stays within " + FormatBytes(*limit_mb * kBytesPerMegabyte),
        .given = "device " + std::to_string(i) + " with " + LayersText(device) + " peaks at " +
                 FormatBytes(device.plan.peak_bytes) + "; its largest holders are " +
                 DescribeHolders(device.plan.largest_holders, 3) + "; " + PeakKindsText(device, 4),
        .advice = balanced ? "no placement needs less: use more devices, gradient checkpointing, "
                             "a smaller batch or a higher limit"
                           : "try sharding_strategy = \"MemoryBalanced\", more devices, gradient "
                             "checkpointing, a smaller batch or a higher limit"};
    throw MemoryError(diagnostic, whole.config.origins.PlaceOf(diagnostic.where));
  }
}

}  // namespace

PlannedTraining PlanDevices(TrainingSetup setup, PlanPurpose purpose) {
  const Placement placement = PlacementOf(setup);
  PlannedTraining planned{std::move(setup), Plan()};
  const std::int64_t count = MeshOf(planned.config).devices();
  std::map<std::vector<std::int64_t>, std::size_t> kinds;
  std::vector<std::size_t> kind_of;  // by device
  std::vector<PlannedTraining> distinct;
  for (std::int64_t device = 0; device < count; ++device) {
    const bool is_first = device < MeshOf(planned.config).pipeline;
    const std::int64_t stage = device % MeshOf(planned.config).pipeline;
    const PlannedTraining* first =
        is_first ? nullptr : &distinct[kind_of[static_cast<std::size_t>(stage)]];
    const auto [at, is_new] =
        kinds.try_emplace(KindOf(planned, device, purpose, first), distinct.size());
    if (is_new) distinct.push_back(PlanDevice(planned, placement, device));
    kind_of.push_back(at->second);
  }
  DeviceList devices;
  for (const std::size_t kind : kind_of) devices.push_back(&distinct[kind]);
  SumUp(devices, planned.plan);
  planned.plan.devices = Describe(planned.config, devices);
  CheckDeviceLimits(planned, devices);
  if (purpose == PlanPurpose::kRun) planned.devices = std::move(distinct);
  return planned;
}

}  // namespace frugal
