#include "builders/config/sharding_rules.h"

#include <string>

#include "builders/config/loss_rules.h"

namespace frugal {
namespace {

void CheckMesh(const RunConfig& config, Diagnostics& diagnostics) {
  const std::int64_t devices = config.memory.num_devices, data = config.sharding.data_parallel;
  if (devices % data == 0) return;
  diagnostics.Add(config.origins.PlaceOf("sharding.data_parallel"),
                  {.where = "sharding",
                   .required = "data_parallel replicas share the devices evenly",
                   .given = "data_parallel = " + std::to_string(data) +
                            " and memory.num_devices = " + std::to_string(devices),
                   .advice = "use a divisor of num_devices"});
}

void CheckMicroBatches(const RunConfig& config, Diagnostics& diagnostics) {
  const TrainingOptions& training = config.training;
  if (config.memory.use_pipeline_parallelism && training.gradient_accumulation_steps > 1) {
    diagnostics.Add(config.origins.PlaceOf("training.gradient_accumulation_steps"),
                    {.where = "training",
                     .required = "a pipeline's batch is split by micro_batch_count alone",
                     .given = "gradient_accumulation_steps = " +
                              std::to_string(training.gradient_accumulation_steps) +
                              " beside memory.use_pipeline_parallelism",
                     .advice = "raise memory.micro_batch_count instead"});
    return;
  }
  const std::int64_t parts = config.sharding.data_parallel * MicroBatchesOf(config);
  const std::string given = "there are " + std::to_string(parts) + " micro-batches (" +
                            std::to_string(config.sharding.data_parallel) + " replicas of " +
                            std::to_string(MicroBatchesOf(config)) + ")";
  if (parts > training.batch_size) {
    diagnostics.Add(config.origins.PlaceOf("memory.num_devices"),
                    {.where = "memory",
                     .required = "every micro-batch of a step has a sample",
                     .given = given + " and batch_size = " + std::to_string(training.batch_size),
                     .advice = "use a larger batch, or a smaller memory.micro_batch_count"});
  }
  if (parts > 1 && !CountsSamplesAlike(config.loss)) {
    diagnostics.Add(config.origins.PlaceOf("loss." + UnequalKey(config.loss)),
                    {.where = "loss",
                     .required = "parts of a batch count by their samples",
                     .given = given + " and a loss that " + UnequalCount(config.loss) +
                              ", of which parts may have different numbers",
                     .advice = "use one device, or no " + UnequalKey(config.loss)});
  }
}

void CheckShardedState(const RunConfig& config, Diagnostics& diagnostics) {
  if (config.sharding.zero_stage == 0) return;
  const auto refuse = [&](const std::string& required, const std::string& given,
                          const std::string& advice) {
    diagnostics.Add(config.origins.PlaceOf("sharding.zero_stage"),
                    {.where = "sharding", .required = required, .given = given, .advice = advice});
  };
  const std::string stated = "zero_stage = " + std::to_string(config.sharding.zero_stage);
  if (config.sharding.data_parallel == 1) {
    refuse("replicas that share the optimizer's state", stated + " and data_parallel = 1",
           "use more replicas, or leave zero_stage out");
  }
  if (config.optimizer.ema_decay > 0) {
    refuse("every replica has the moving averages that it is evaluated with",
           stated + " and optimizer.ema_decay", "leave one of them out");
  }
}

void CheckGroups(const RunConfig& config, Diagnostics& diagnostics) {
  const ShardingOptions& sharding = config.sharding;
  if (!sharding.reduction_groups) return;
  const std::int64_t groups = *sharding.reduction_groups;
  const auto refuse = [&](const std::string& required, const std::string& given,
                          const std::string& advice) {
    diagnostics.Add(config.origins.PlaceOf("sharding.reduction_groups"),
                    {.where = "sharding", .required = required, .given = given, .advice = advice});
  };
  const std::string stated = "reduction_groups = " + std::to_string(groups);
  if (sharding.data_parallel > 1) {
    if (groups == sharding.data_parallel) return;
    return refuse("replicas are the groups",
                  stated + " and data_parallel = " + std::to_string(sharding.data_parallel),
                  "leave one of them out");
  }
  if (MicroBatchesOf(config) % groups != 0) {
    return refuse("groups have as many micro-batches each",
                  stated + " of " + std::to_string(MicroBatchesOf(config)) + " micro-batches",
                  "use a divisor, or more gradient_accumulation_steps or micro_batch_count");
  }
  const PipelineKind kind = ScheduleOf(config).kind;
  if (groups > 1 && kind != PipelineKind::kSequential && kind != PipelineKind::k1F1B) {
    refuse("gradients of a group are all there before those of the next begin",
           stated + " with schedule = \"" + std::string(NameOf(kind)) + "\"",
           "use the schedule 1f1b, or no groups");
  }
}

void CheckBudget(const RunConfig& config, Diagnostics& diagnostics) {
  if (!config.memory.memory_budget_mb) return;
  diagnostics.Add(
      config.origins.PlaceOf("memory.memory_budget_mb"),
      {.where = "memory",
       .required = "a budget is that of one device",
       .given = "memory_budget_mb with num_devices = " + std::to_string(config.memory.num_devices),
       .advice = "state max_memory_per_device_mb, and sharding_strategy = "
                 "\"MemoryBalanced\", use_gradient_checkpointing, memory_page_kinds of a "
                 "memory_page_file or more devices to stay below it"});
}

}  // namespace

DeviceMesh MeshOf(const RunConfig& config) {
  const std::int64_t data = config.sharding.data_parallel;
  return {.data = data, .pipeline = config.memory.num_devices / data};
}

std::int64_t MicroBatchesOf(const RunConfig& config) {
  const bool pipelined = config.memory.num_devices > 1 && config.memory.use_pipeline_parallelism;
  return pipelined ? config.memory.micro_batch_count : config.training.gradient_accumulation_steps;
}

PipelineSchedule ScheduleOf(const RunConfig& config) {
  const PipelineKind kind =
      config.memory.use_pipeline_parallelism ? config.sharding.schedule : PipelineKind::kSequential;
  return MakePipelineSchedule(kind, MeshOf(config).pipeline, MicroBatchesOf(config));
}

void CheckShardingRules(const RunConfig& config, Diagnostics& diagnostics) {
  CheckMesh(config, diagnostics);
  CheckGroups(config, diagnostics);
  CheckShardedState(config, diagnostics);
  if (config.memory.num_devices == 1) return;
  CheckMicroBatches(config, diagnostics);
  CheckBudget(config, diagnostics);
}

}  // namespace frugal
