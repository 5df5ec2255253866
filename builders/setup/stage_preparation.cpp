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
          .more_outputs = setup.more_outputs,
          .layout = setup.layout,
          .loss = setup.config.loss,
          .backend = *setup.backend,
          .diffusion = setup.diffusion.get(),
          .dtype = setup.dtype()};
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

// Each stage would move its own copy.
void RefuseSharedStatistics(const PipelineStage& stage) {
  for (const SharedParameter& shared : stage.shared) {
    if (!shared.parameter->is_buffer) continue;
    throw ConfigError({.where = "memory.num_devices",
                       .required = "the statistics of a batch norm belong to one stage",
                       .given = shared.parameter->path + " is in stages " +
                                std::to_string(shared.stages.front()) + " and " +
                                std::to_string(shared.stages.back()),
                       .advice = "keep a layer and its uses (again) on one device "
                                 "(custom_device_assignments), or use replicas (data_parallel)"});
  }
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
  stage.bucket_bytes = setup.config.sharding.bucket_kb << 10;
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

// Gives each replica about as many bytes: the largest parameters first, each to the replica that
// has least so far. Every replica has what is not trained, but for values at stage 3.
ParameterShards ShardsOf(const TrainingSetup& setup, const PipelineStage& stage) {
  ParameterShards shards{.stage = setup.config.sharding.zero_stage, .own = stage.data_index};
  if (shards.stage == 0) return shards;
  shards.holders.assign(static_cast<std::size_t>(stage.parameters), ParameterShards::kEveryReplica);
  std::vector<const Parameter*> order;
  for (const Parameter* parameter : setup.parameters) {
    if (parameter->is_buffer || (!parameter->trainable && shards.stage < 3)) continue;
    order.push_back(parameter);
  }
  std::ranges::stable_sort(order, std::greater(),
                           [](const Parameter* one) { return one->shape.ElementCount(); });
  std::vector<std::int64_t> held(static_cast<std::size_t>(stage.data_count));
  for (const Parameter* parameter : order) {
    const auto least = std::ranges::min_element(held);
    shards.holders[parameter->index] = least - held.begin();
    *least += parameter->shape.ElementCount();
  }
  return shards;
}

[[noreturn]] void Refuse(const std::string& field, const std::string& required,
                         const std::string& given, const std::string& advice) {
  throw ConfigError(
      {.where = "sharding." + field, .required = required, .given = given, .advice = advice});
}

// The samples of an epoch's last batch, where it has fewer than there are micro-batches.
std::int64_t TooSmallRest(const TrainingSetup& setup, const PipelineStage& stage) {
  const EpochSchedule& schedule = setup.schedule;
  if (schedule.drop_last || schedule.batch == 0) return 0;
  const std::int64_t rest = schedule.train_samples % schedule.batch;
  return rest < stage.data_count * stage.micro_batches ? rest : 0;
}

// Throws where replicas share values or statistics and some would go through the network more often
// than others.
void CheckReplicas(const TrainingSetup& setup, const PipelineStage& stage) {
  if (stage.data_count == 1) return;
  const bool shares_values = stage.shards.stage >= 3;
  if (shares_values && !stage.shared.empty()) {
    Refuse("zero_stage", "with zero_stage = 3 a weight belongs to one stage of the pipeline",
           stage.shared.front().parameter->path + " is shared by several",
           "use zero_stage = 2, or data_parallel = num_devices");
  }
  const std::int64_t rest = TooSmallRest(setup, stage);
  const auto is_statistic = [](const Parameter* parameter) { return parameter->is_buffer; };
  const bool has_norms = std::ranges::any_of(setup.parameters, is_statistic);
  if (rest == 0 || !(shares_values || has_norms)) return;
  Refuse(shares_values ? "zero_stage" : "data_parallel",
         std::string("every micro-batch of every step has samples ") +
             (shares_values ? "with zero_stage = 3" : "where a network has batch norms"),
         "an epoch ends with a batch of " + std::to_string(rest) + " for " +
             std::to_string(stage.data_count * stage.micro_batches) + " micro-batches",
         "set training.drop_last = true, or use a batch_size that leaves more");
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
  own->boundaries = std::make_unique<BoundaryTable>(NetworkOf(setup));
  TakeParameters(placement, setup, *own);
  RefuseSharedInGroups(setup, own->stage);
  RefuseSharedStatistics(own->stage);
  own->stage.shards = ShardsOf(setup, own->stage);
  CheckReplicas(setup, own->stage);
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
  if (!own->evaluates()) setup.schedule.test_samples = setup.schedule.validation_samples = 0;
  if (setup.dataset && !IsOfProgram(*setup.dataset) && setup.diffusion == nullptr) {
    own->reads = {.inputs = own->stage.is_first(), .targets = own->stage.is_last()};
  }
  setup.stage = std::move(own);
  return setup;
}

}  // namespace frugal
