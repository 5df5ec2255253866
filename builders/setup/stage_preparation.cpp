#include "builders/setup/stage_preparation.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "builders/config/sharding_rules.h"

namespace frugal {
namespace {

// Finds which stages use which parameter; `users[i]` are ascending.
std::vector<std::vector<std::int64_t>> UsersOf(BoundaryTable& boundaries,
                                               const Placement& placement, std::size_t parameters) {
  std::vector<std::vector<std::int64_t>> users(parameters);
  for (std::size_t stage = 0; stage < placement.size(); ++stage) {
    for (std::int64_t layer = placement[stage].begin; layer < placement[stage].end; ++layer) {
      for (const std::size_t index : boundaries.ParametersOf(static_cast<std::size_t>(layer))) {
        std::vector<std::int64_t>& of = users[index];
        const auto number = static_cast<std::int64_t>(stage);
        if (of.empty() || of.back() != number) of.push_back(number);
      }
    }
  }
  return users;
}

BoundaryTable::Network NetworkOf(const TrainingSetup& setup) {
  std::vector<Layer*> layers;
  for (std::size_t i = 0; i < setup.network->size(); ++i)
    layers.push_back(&setup.network->layer(i));
  return {.layers = std::move(layers),
          .parameters = setup.parameters,
          .inputs = setup.inputs,
          .layout = setup.layout,
          .loss = setup.config.loss,
          .backend = *setup.backend,
          .diffusion = setup.diffusion.get(),
          .dtype = setup.dtype()};
}

// A replica's running statistics would be those of its own samples.
void RefuseBatchStatistics(const TrainingSetup& setup, std::int64_t replicas) {
  if (replicas == 1) return;
  for (const Parameter* parameter : setup.parameters) {
    if (!parameter->path.ends_with("running_mean")) continue;
    throw ConfigError({.where = "sharding.data_parallel",
                       .required = "replicas of a network come to the same weights and statistics",
                       .given = "the network has batch norms (" + parameter->path +
                                "), whose statistics are those of a replica's own samples",
                       .advice = "use group norms, or data_parallel = 1"});
  }
}

// Stages add up what they share behind the step, not behind each group.
void RefuseSharedInGroups(const TrainingSetup& setup, const PipelineStage& stage) {
  const std::int64_t groups = setup.config.sharding.reduction_groups.value_or(1);
  if (stage.data_count > 1 || groups == 1 || stage.shared.empty()) return;
  throw ConfigError({.where = "sharding.reduction_groups",
                     .required = "weights that stages share are summed behind the step",
                     .given = std::to_string(groups) + " groups, and " +
                              stage.shared.front().parameter->path + " is shared",
                     .advice = "use replicas (data_parallel), one device, or no groups"});
}

PipelineStage StageOf(const TrainingSetup& setup, std::int64_t device) {
  const DeviceMesh mesh = MeshOf(setup.config);
  PipelineStage stage;
  stage.count = mesh.pipeline;
  stage.index = device % mesh.pipeline;
  stage.data_count = mesh.data;
  stage.data_index = device / mesh.pipeline;
  stage.micro_batches = MicroBatchesOf(setup.config);
  stage.parameters = std::ssize(setup.parameters);
  stage.slots = ScheduleOf(setup.config).stages[static_cast<std::size_t>(stage.index)];
  return stage;
}

// Leaves the parameters that the stage owns, and lists those that it shares.
void TakeParameters(const Placement& placement, TrainingSetup& setup, StageSetup& own) {
  const auto users = UsersOf(*own.boundaries, placement, setup.parameters.size());
  std::vector<Parameter*> owned;
  for (Parameter* parameter : setup.parameters) {
    const std::vector<std::int64_t>& stages = users[parameter->index];
    // A parameter that no pass touches belongs to the first stage.
    const std::int64_t owner = stages.empty() ? 0 : stages.front();
    if (owner == own.stage.index) owned.push_back(parameter);
    if (stages.size() > 1 && std::ranges::count(stages, own.stage.index) > 0) {
      own.stage.shared.push_back({parameter, stages});
    }
  }
  setup.parameters = std::move(owned);
}

// Gives each replica the state of about as many bytes: the largest parameters first, each to the
// replica that has least so far.
std::vector<std::int64_t> StateHolders(const std::vector<Parameter*>& parameters,
                                       std::int64_t replicas) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) {
    return parameters[i]->trainable ? parameters[i]->shape.ElementCount() : 0;
  });
  std::vector<std::int64_t> held(static_cast<std::size_t>(replicas)), holders(parameters.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(held);
    holders[i] = least - held.begin();
    if (parameters[i]->trainable) *least += parameters[i]->shape.ElementCount();
  }
  return holders;
}

void CutNetwork(const Placement& placement, TrainingSetup& setup, StageSetup& own) {
  std::vector<std::size_t> sizes;
  for (const LayerRange& range : placement) {
    sizes.push_back(static_cast<std::size_t>(range.end - range.begin));
  }
  own.others = setup.network->Cut(sizes);
  const auto index = static_cast<std::size_t>(own.stage.index);
  own.layers = placement[index];
  setup.network = std::move(own.others[index]);
  own.others.erase(own.others.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace

TrainingSetup PrepareStage(const RunConfig& config, const DataLayout* custom_layout,
                           const Placement& placement, std::int64_t device) {
  TrainingSetup setup = PrepareTraining(config, custom_layout);
  auto own = std::make_unique<StageSetup>();
  own->stage = StageOf(setup, device);
  RefuseBatchStatistics(setup, own->stage.data_count);
  own->boundaries = std::make_unique<BoundaryTable>(NetworkOf(setup));
  TakeParameters(placement, setup, *own);
  RefuseSharedInGroups(setup, own->stage);
  if (config.sharding.zero_stage > 0) {
    own->stage.updated_by = StateHolders(setup.parameters, own->stage.data_count);
  }
  CutNetwork(placement, setup, *own);
  BoundaryTable* boundaries = own->boundaries.get();
  const auto behind = [boundaries](std::int64_t layer) -> StageBoundaryOf {
    return [boundaries, layer](std::int64_t samples) -> const StageBoundary& {
      return boundaries->Behind(static_cast<std::size_t>(layer), samples);
    };
  };
  own->stage.before = behind(own->layers.begin - 1);
  own->stage.after = behind(own->layers.end - 1);
  setup.config.training.gradient_accumulation_steps =
      own->stage.data_count * own->stage.micro_batches;
  if (!own->evaluates()) setup.schedule.test_samples = 0;
  setup.stage = std::move(own);
  return setup;
}

}  // namespace frugal
