#include "presets/memory_fields.h"

namespace frugal {
namespace {

using Config = TrainingMemoryConfig;

FieldLimits Megabytes() {
  return {.min = 1, .max = static_cast<double>(kMostMegabytes), .unit = "MB"};
}

std::vector<Field> CheckpointRows() {
  return {
      MakeField("use_gradient_checkpointing", &Config::use_gradient_checkpointing,
                "Keep only some activations and compute the others again in the backward pass."),
      MakeField("checkpoint_every_n_layers", &Config::checkpoint_every_n_layers,
                "Of each run of this many layers, as the plan lists them, only the input is kept.",
                {.min = 1}),
      MakeField("checkpoint_attention_layers", &Config::checkpoint_attention_layers,
                "Attention layers may be computed again; else they run once, and keep what they "
                "need."),
      MakeField("checkpoint_residual_blocks", &Config::checkpoint_residual_blocks,
                "Residual blocks may be computed again; else they run once, and keep what they "
                "need."),
      MakeField("high_activation_memory_threshold_bytes",
                &Config::high_activation_memory_threshold_bytes,
                "A layer of the plan that keeps more bytes than this is a run of its own.",
                {.min = 0, .unit = "bytes"}),
      MakeField("optimizer_in_backward", &Config::optimizer_in_backward,
                "Update each parameter as soon as its gradient is final, and free the gradient."),
      MakeChoice("checkpoint_planning", &Config::checkpoint_planning,
                 "With checkpointing: runs as stated, or the fastest segments whose peak is no "
                 "higher, or segments and updates in the backward pass of the least peak.",
                 CheckpointPlanningChoices()),
  };
}

std::vector<Field> BudgetRows() {
  return {
      MakeField("memory_budget_mb", &Config::memory_budget_mb,
                "What the training may take: the plan is made to fit, as fast as it can be.",
                Megabytes()),
      MakeChoice("planner_costs", &Config::planner_costs,
                 "With a budget: times of layers by a model, or measured in a short warm-up.",
                 PlannerCostsChoices()),
  };
}

std::vector<Field> PagingRows() {
  return {
      MakeField("memory_page_file", &Config::memory_page_file,
                "A new file on a disk, for what is paged out of memory; it has no name any more as "
                "soon as it is open, so that nothing is left of it. Each of several devices has "
                "one, with its number behind the name."),
      MakeChoice("memory_page_kinds", &Config::memory_page_kinds,
                 "With a page file: the optimizer's state is there while nothing uses it, or "
                 "weights too, or neither.",
                 PagedKindsChoices()),
      MakeField("memory_page_activations_mb", &Config::memory_page_activations_mb,
                "With a page file: at most so much of what a forward pass keeps for its backward "
                "pass is there too, the first of it.",
                {.min = 0, .max = static_cast<double>(kMostMegabytes), .unit = "MB"}),
      MakeField(
          "memory_page_buffer_mb", &Config::memory_page_buffer_mb,
          "With a page file: memory for what is read ahead, and written behind. A memory budget "
          "takes no more than an eighth of itself for it unless this is stated.",
          {.min = 2, .max = 65536, .unit = "MB"}),
      MakeField(
          "memory_page_least_kb", &Config::memory_page_least_kb,
          "With a page file: smaller tensors stay in memory; a disk takes as long for them as "
          "for this.",
          {.min = 1, .max = 1 << 20, .unit = "KB"}),
  };
}

std::vector<Field> ActivationPoolRows() {
  return {
      MakeField("use_activation_pooling", &Config::use_activation_pooling,
                "Activations and workspace come from a pool; off, from the heap and back to it."),
      MakeField("max_pool_memory_mb", &Config::max_pool_memory_mb,
                "What the activation pool keeps at most between steps.", Megabytes()),
  };
}

std::vector<Field> DeviceRows() {
  return {
      MakeField("num_devices", &Config::num_devices,
                "Devices to train on: groups of cores with memory of their own.",
                {.min = 1, .max = 4096}),
      MakeChoice("sharding_strategy", &Config::sharding_strategy,
                 "How layers are spread over devices: as many on each, or so that the device that "
                 "needs most memory needs least, or as custom_device_assignments says.",
                 ShardingStrategyChoices()),
      MakeField("custom_device_assignments", &Config::custom_device_assignments,
                "The stage of each layer, 0 first, for sharding_strategy = \"Custom\".",
                {.min = 0, .min_items = 1}),
      MakeField("max_memory_per_device_mb", &Config::max_memory_per_device_mb,
                "A plan that needs more on a device is refused; with a budget, the smaller counts.",
                Megabytes()),
      MakeField("use_pipeline_parallelism", &Config::use_pipeline_parallelism,
                "Run micro-batches through the stages of the devices; one device is one stage."),
      MakeField("micro_batch_count", &Config::micro_batch_count,
                "Parts that a batch is split into for the pipeline; with one device it is not.",
                {.min = 1}),
  };
}

std::vector<Field> StatisticsRows() {
  return {
      MakeField("track_memory_statistics", &Config::track_memory_statistics,
                "Record the peak and timeline of memory per operation, for the report."),
      MakeField("memory_warning_threshold", &Config::memory_warning_threshold,
                "Warn when use passes this fraction of the memory limit in force.",
                {.min = 0, .max = 1, .min_exclusive = true}),
  };
}

std::vector<Field> TensorPoolRows() {
  return {
      MakeField("use_tensor_pooling", &Config::use_tensor_pooling,
                "Weights, gradients and optimizer state of a destroyed model serve the next one."),
      MakeTable("tensor_pool_options", &Config::tensor_pool_options,
                "Limits of the tensor pool; none means their defaults.", TensorPoolFields()),
      MakeField("use_shared_tensor_pool", &Config::use_shared_tensor_pool,
                "One tensor pool for the process; off, one for each model."),
  };
}

std::vector<Field> InitializationRows() {
  return {
      MakeChoice("default_initialization_strategy", &Config::default_initialization_strategy,
                 "When weights get their first values, and from what.",
                 InitializationStrategyChoices()),
      MakeField("weights_file_path", &Config::weights_file_path,
                "Weight file, for default_initialization_strategy = \"FromFile\"."),
      MakeChoice("weights_file_format", &Config::weights_file_format,
                 "Format of the weight file; Auto goes by its content.", WeightsFormatChoices()),
  };
}

}  // namespace

std::string MemoryPath(const std::string& field) { return kMemoryTable + ("." + field); }

const Choices<ShardingStrategy>& ShardingStrategyChoices() {
  static const Choices<ShardingStrategy> choices = {
      {"EvenSplit", ShardingStrategy::kEvenSplit},
      {"MemoryBalanced", ShardingStrategy::kMemoryBalanced},
      {"Custom", ShardingStrategy::kCustom}};
  return choices;
}

const Choices<CheckpointPlanning>& CheckpointPlanningChoices() {
  static const Choices<CheckpointPlanning> choices = {
      {"AsStated", CheckpointPlanning::kAsStated},
      {"Fastest", CheckpointPlanning::kFastest},
      {"LeastPeak", CheckpointPlanning::kLeastPeak}};
  return choices;
}

const Choices<PlannerCosts>& PlannerCostsChoices() {
  static const Choices<PlannerCosts> choices = {{"model", PlannerCosts::kModel},
                                                {"measured", PlannerCosts::kMeasured}};
  return choices;
}

const Choices<PagedKinds>& PagedKindsChoices() {
  static const Choices<PagedKinds> choices = {{"None", PagedKinds::kNone},
                                              {"Optimizer", PagedKinds::kOptimizerState},
                                              {"Weights", PagedKinds::kWeights}};
  return choices;
}

const Choices<InitializationStrategy>& InitializationStrategyChoices() {
  static const Choices<InitializationStrategy> choices = {
      {"Eager", InitializationStrategy::kEager},
      {"Lazy", InitializationStrategy::kLazy},
      {"Zero", InitializationStrategy::kZero},
      {"FromFile", InitializationStrategy::kFromFile}};
  return choices;
}

const Choices<WeightsFormat>& WeightsFormatChoices() {
  static const Choices<WeightsFormat> choices = {{"Auto", WeightsFormat::kAuto},
                                                 {"Json", WeightsFormat::kJson},
                                                 {"Binary", WeightsFormat::kBinary},
                                                 {"Safetensors", WeightsFormat::kSafetensors}};
  return choices;
}

const FieldTable& TensorPoolFields() {
  using Options = TensorPoolOptions;
  static const FieldTable table = MakeFieldTable<Options>(
      "tensor_pool_options",
      {MakeField("max_pool_size_mb", &Options::max_pool_size_mb,
                 "What the tensor pool keeps at most.", Megabytes()),
       MakeField("max_elements_to_pool", &Options::max_elements_to_pool,
                 "Buffers of more elements than this are not kept.", {.min = 1}),
       MakeField("max_items_per_bucket", &Options::max_items_per_bucket,
                 "Idle buffers of one size class that are kept at most.", {.min = 1}),
       MakeField("use_weak_references", &Options::use_weak_references,
                 "Give idle buffers back when the machine's free memory is short."),
       MakeField("enabled", &Options::enabled, "Off, nothing is kept.")});
  return table;
}

const FieldTable& MemoryFields() {
  static const FieldTable table = [] {
    std::vector<Field> rows;
    for (auto part : {CheckpointRows, BudgetRows, PagingRows, ActivationPoolRows, DeviceRows,
                      StatisticsRows, TensorPoolRows, InitializationRows}) {
      for (Field& field : part()) rows.push_back(std::move(field));
    }
    return MakeFieldTable<Config>("memory", std::move(rows));
  }();
  return table;
}

}  // namespace frugal
