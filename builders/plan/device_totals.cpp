#include "builders/plan/device_totals.h"

#include <algorithm>
#include <utility>

#include "builders/config/sharding_rules.h"
#include "builders/plan/needed_bytes.h"
#include "builders/setup/paging.h"
#include "sdk/comm/launched_ranks.h"

namespace frugal {
namespace {

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
  to.paged += from.paged;
}

// Replicas that page the same parameter, or what the same layer keeps, are one holder.
void Add(const PagingPlan& from, PagingPlan& to) {
  to.file_bytes += from.file_bytes;
  to.buffer_bytes += from.buffer_bytes;
  for (const auto kept : {&PagingPlan::tensors, &PagingPlan::activations}) {
    std::vector<Holder> all = std::move(to.*kept);
    all.insert(all.end(), (from.*kept).begin(), (from.*kept).end());
    to.*kept = MergeHolders(std::move(all));
  }
}

// Every device has a file of its own.
std::optional<PagingPlan> SumOfPaging(const DeviceList& devices) {
  if (!devices.front()->plan.paging) return std::nullopt;
  const PlannedTraining& first = *devices.front();
  PagingPlan sum;
  sum.file = PageFileOf(first.config.memory, first.stage.get()) + " to ." +
             std::to_string(devices.size() - 1);
  for (const PlannedTraining* device : devices) Add(*device->plan.paging, sum);
  return sum;
}

}  // namespace

void SumUp(const DeviceList& devices, Plan& plan) {
  plan.parameter_count = 0;
  const PlannedTraining& largest = **std::ranges::max_element(
      devices, {}, [](const PlannedTraining* one) { return one->plan.peak_bytes; });
  plan.total_steps = largest.plan.total_steps;
  plan.steps = largest.plan.steps;
  plan.largest_holders = largest.plan.largest_holders;
  plan.paging = SumOfPaging(devices);
  for (StepPlan& step : plan.steps) {
    step.flops = step.recomputed_flops = 0;
    step.paged = {};
  }
  const auto stages = static_cast<std::size_t>(largest.stage->stage.count);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Plan& own = devices[i]->plan;
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
    if (i >= stages) continue;  // of another replica
    plan.parameter_count += own.parameter_count;
    plan.trainable_count += own.trainable_count;
    AppendLayers(own.layers, plan.layers);
  }
}

namespace {

DevicePlan Describe(const PlannedTraining& device, std::int64_t replica) {
  PipelineStage stage = device.stage->stage;
  stage.data_index = replica;
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
          .sent = TrafficOf(stage, step != nullptr ? step->exchanges : std::vector<DataExchange>(),
                            batch, MasterType(device.dtype()), device.optimizer->clips()),
          .page_file_bytes = plan.paging ? plan.paging->file_bytes : 0,
          .needed_bytes = NeededBytes(device)};
}

// Backward takes twice the work of forward, beside what runs again.
StageSeconds SecondsOf(const PlannedTraining& device) {
  const StepPlan* step = device.plan.Find(StepKind::kTrain, device.schedule.batch);
  if (step == nullptr) return {};
  const double parts = kWorkUnit * static_cast<double>(device.stage->stage.micro_batches);
  const double forward = (step->flops - step->recomputed_flops) / 3;
  return {.forward = forward / parts,
          .input_gradient = (forward + step->recomputed_flops) / parts,
          .weight_gradient = forward / parts};
}

double LaunchesOf(const PlannedTraining& device) {
  const StepPlan* step = device.plan.Find(StepKind::kTrain, device.schedule.batch);
  if (step == nullptr) return 0;
  return static_cast<double>(step->launches) /
         static_cast<double>(device.stage->stage.micro_batches);
}

}  // namespace

DevicesPlan Describe(const RunConfig& config, const DeviceList& devices) {
  const PipelineStage& first = devices.front()->stage->stage;
  DevicesPlan plan;
  plan.replicas = first.data_count;
  plan.stages = first.count;
  plan.micro_batches = first.micro_batches;
  plan.threads = ThreadCount();
  plan.schedule = ScheduleOf(config);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto replica = static_cast<std::int64_t>(i) / first.count;
    plan.devices.push_back(Describe(*devices[i], replica));
    if (replica > 0) continue;
    plan.work.push_back(SecondsOf(*devices[i]));
    plan.launches.push_back(LaunchesOf(*devices[i]));
  }
  if (Launched() != nullptr) plan.link_bytes = Launched()->link_bytes;
  plan.times = SimulatePipeline(plan.schedule, {.stages = plan.work});
  return plan;
}

}  // namespace frugal
