#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "presets/config/memory_budget.h"
#include "sdk/plan/paged_kinds.h"

namespace frugal {

// Names how layers are spread over devices.
enum class ShardingStrategy : std::uint8_t { kEvenSplit, kMemoryBalanced, kCustom };

// Names when and from what parameters get their first values.
enum class InitializationStrategy : std::uint8_t { kEager, kLazy, kZero, kFromFile };

// Format of a weight file; kAuto goes by its content.
enum class WeightsFormat : std::uint8_t { kAuto, kJson, kBinary, kSafetensors };

// Names where the planner takes the times of layers from: FLOPs and bytes at stated rates, or a
// warm-up.
enum class PlannerCosts : std::uint8_t { kModel, kMeasured };

// Names how checkpointed segments are found: the runs of layers that the fields state; the fastest
// ones whose peak is no higher than that of these runs; or those of the least peak.
enum class CheckpointPlanning : std::uint8_t { kAsStated, kFastest, kLeastPeak };

// Limits of the pool for weights, gradients and optimizer state.
struct TensorPoolOptions {
  std::int64_t max_pool_size_mb = 256;
  std::int64_t max_elements_to_pool = 10'000'000;  // larger buffers go back to the system at once
  std::int64_t max_items_per_bucket = 10;          // idle buffers of one size class
  bool use_weak_references = false;
  bool enabled = true;

  bool operator==(const TensorPoolOptions&) const = default;
};

struct TrainingMemoryConfig;

// The preset that a configuration began as, empty for none: a name, or the path of a file, and the
// values that it set. Two configurations are equal where their values are, however they came about.
struct BeganAs {
  std::string preset;
  std::shared_ptr<const TrainingMemoryConfig> values;

  bool operator==(const BeganAs&) const { return true; }
};

// The memory policy of a training. It decides where bytes come from and how long they stay, never
// the numbers that are computed. Each field is documented in memory_fields.cpp; TOML names
// are the member names. A struct filled in code is checked by CheckMemory (memory_rules.h).
struct TrainingMemoryConfig {
  bool use_gradient_checkpointing = false;
  std::int64_t checkpoint_every_n_layers = 2;
  bool checkpoint_attention_layers = true;
  bool checkpoint_residual_blocks = true;
  std::optional<std::int64_t> high_activation_memory_threshold_bytes;
  bool optimizer_in_backward = false;
  CheckpointPlanning checkpoint_planning = CheckpointPlanning::kAsStated;

  std::optional<MemoryBudget> memory_budget_mb;
  PlannerCosts planner_costs = PlannerCosts::kModel;

  std::optional<std::string> memory_page_file;
  PagedKinds memory_page_kinds = PagedKinds::kOptimizerState;
  std::int64_t memory_page_activations_mb = 0;
  std::int64_t memory_page_buffer_mb = 64;
  std::int64_t memory_page_least_kb = 256;

  bool use_activation_pooling = true;
  std::int64_t max_pool_memory_mb = 4096;

  std::int64_t num_devices = 1;
  ShardingStrategy sharding_strategy = ShardingStrategy::kEvenSplit;
  std::optional<std::vector<std::int64_t>> custom_device_assignments;
  std::optional<std::int64_t> max_memory_per_device_mb;
  bool use_pipeline_parallelism = false;
  std::int64_t micro_batch_count = 4;

  bool track_memory_statistics = false;
  double memory_warning_threshold = 0.9;

  bool use_tensor_pooling = true;
  std::optional<TensorPoolOptions> tensor_pool_options;
  bool use_shared_tensor_pool = true;

  InitializationStrategy default_initialization_strategy = InitializationStrategy::kEager;
  std::optional<std::string> weights_file_path;
  WeightsFormat weights_file_format = WeightsFormat::kAuto;

  // Set by the presets below, and no field of TOML. What still is as the preset left it counts as
  // the preset's and not as your own choice: a memory budget may choose otherwise.
  BeganAs began_as{};

  bool operator==(const TrainingMemoryConfig&) const = default;

  // The nine presets; what each sets is in presets/*.toml and printed by `frugal presets`. Those of
  // a file of your own are read by ReadMemoryPreset (presets/memory_presets.h).
  static TrainingMemoryConfig Default();
  static TrainingMemoryConfig MemoryEfficient();
  static TrainingMemoryConfig SpeedOptimized();
  static TrainingMemoryConfig MultiGpu(std::int64_t num_devices);
  static TrainingMemoryConfig ForTransformers();
  static TrainingMemoryConfig ForConvNets();
  static TrainingMemoryConfig ForTransferLearning(const std::string& weights_file_path,
                                                  WeightsFormat format = WeightsFormat::kAuto);
  static TrainingMemoryConfig FastConstruction();
  static TrainingMemoryConfig AggressivePooling(std::int64_t max_pool_memory_mb = 512);
};

}  // namespace frugal
