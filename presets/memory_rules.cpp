#include "presets/memory_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "presets/config/diagnostics.h"
#include "presets/config/field_check.h"
#include "presets/memory_fields.h"

namespace frugal {
namespace {

using Config = TrainingMemoryConfig;
using Found = std::vector<Contradiction>;

void CheckWeightsFile(const Config& config, Found& found) {
  const bool from_file =
      config.default_initialization_strategy == InitializationStrategy::kFromFile;
  const std::optional<std::string>& path = config.weights_file_path;
  if (from_file && (!path || path->empty())) {
    found.push_back({{"weights_file_path", "default_initialization_strategy"},
                     {"memory",
                      "default_initialization_strategy = \"FromFile\" needs a "
                      "weights_file_path",
                      path ? "an empty one was given" : "none was given",
                      "add weights_file_path = \"model.safetensors\""}});
  }
  if (from_file) return;
  const Diagnostic diagnostic = {
      "memory", "",
      "default_initialization_strategy is \"" +
          NameIn(InitializationStrategyChoices(), config.default_initialization_strategy) + "\"",
      "set it to \"FromFile\", or remove "};
  const auto add = [&](const std::string& field) {
    Diagnostic specific = diagnostic;
    specific.required = field + " needs default_initialization_strategy = \"FromFile\"";
    specific.advice += field;
    found.push_back({{field, "default_initialization_strategy"}, specific});
  };
  if (path) add("weights_file_path");
  if (config.weights_file_format != WeightsFormat::kAuto) add("weights_file_format");
}

void CheckSharding(const Config& config, Found& found) {
  const bool custom = config.sharding_strategy == ShardingStrategy::kCustom;
  if (custom && !config.custom_device_assignments) {
    found.push_back({{"sharding_strategy", "custom_device_assignments"},
                     {"memory", "sharding_strategy = \"Custom\" needs custom_device_assignments",
                      "none were given", "add custom_device_assignments = [0, 0, ...]"}});
  }
  if (!custom && config.custom_device_assignments) {
    found.push_back({{"custom_device_assignments", "sharding_strategy"},
                     {"memory", "custom_device_assignments needs sharding_strategy = \"Custom\"",
                      "sharding_strategy is \"" +
                          NameIn(ShardingStrategyChoices(), config.sharding_strategy) + "\"",
                      "set it to \"Custom\", or remove custom_device_assignments"}});
  }
}

void CheckDevices(const Config& config, Found& found) {
  if (!config.custom_device_assignments) return;
  for (const std::int64_t device : *config.custom_device_assignments) {
    if (device < config.num_devices) continue;
    const std::string count = std::to_string(config.num_devices);
    found.push_back(
        {{"custom_device_assignments", "num_devices"},
         {"memory", "custom_device_assignments must name devices below num_devices = " + count,
          "device " + std::to_string(device) + " was given", "devices are counted from 0"}});
    return;  // the first is enough
  }
}

void CheckPageFile(const Config& config, Found& found) {
  if (!config.memory_page_file || !config.memory_page_file->empty()) return;
  found.push_back({{"memory_page_file"},
                   {"memory", "memory_page_file is the path of a new file", "it is empty",
                    "name one on a fast disk, or leave it out"}});
}

void CheckTensorPool(const Config& config, Found& found) {
  if (config.use_tensor_pooling || !config.tensor_pool_options) return;
  found.push_back(
      {{"tensor_pool_options", "use_tensor_pooling"},
       {"memory", "tensor_pool_options needs use_tensor_pooling = true",
        "use_tensor_pooling is false", "set it to true, or tensor_pool_options to \"none\""}});
}

struct Dependence {
  std::string_view field;
  std::string_view on;
  bool Config::*enabled;
};

constexpr std::array<Dependence, 8> kDependences = {{
    {"checkpoint_every_n_layers", "use_gradient_checkpointing",
     &Config::use_gradient_checkpointing},
    {"checkpoint_attention_layers", "use_gradient_checkpointing",
     &Config::use_gradient_checkpointing},
    {"checkpoint_residual_blocks", "use_gradient_checkpointing",
     &Config::use_gradient_checkpointing},
    {"high_activation_memory_threshold_bytes", "use_gradient_checkpointing",
     &Config::use_gradient_checkpointing},
    {"checkpoint_planning", "use_gradient_checkpointing", &Config::use_gradient_checkpointing},
    {"max_pool_memory_mb", "use_activation_pooling", &Config::use_activation_pooling},
    {"micro_batch_count", "use_pipeline_parallelism", &Config::use_pipeline_parallelism},
    {"use_shared_tensor_pool", "use_tensor_pooling", &Config::use_tensor_pooling},
}};

// A struct that comes from code has all its fields, meant or not.
bool IsWritten(const Origin& origin) {
  return origin.kind == OriginKind::kFile || origin.kind == OriginKind::kCommandLine;
}

}  // namespace

std::vector<Contradiction> MemoryContradictions(const TrainingMemoryConfig& config) {
  Found found;
  CheckSharding(config, found);
  CheckDevices(config, found);
  CheckTensorPool(config, found);
  CheckPageFile(config, found);
  CheckWeightsFile(config, found);
  return found;
}

void CheckMemory(const TrainingMemoryConfig& config) {
  Diagnostics diagnostics;
  for (const Diagnostic& diagnostic : CheckFields(MemoryFields(), &config, "memory")) {
    diagnostics.Add({}, diagnostic);
  }
  for (const Contradiction& contradiction : MemoryContradictions(config)) {
    diagnostics.Add({}, contradiction.diagnostic);
  }
  diagnostics.ThrowIfAny();
}

std::vector<std::string> IdleMemoryFields(const TrainingMemoryConfig& config,
                                          const Origins& origins, const std::string& path) {
  std::vector<std::string> notes;
  for (const Dependence& dependence : kDependences) {
    const Origin& origin = origins.Of(path + "." + std::string(dependence.field));
    if (config.*dependence.enabled || !IsWritten(origin)) continue;
    notes.push_back(std::string(dependence.field) + " (" + ShortText(origin) +
                    ") has no effect while " + std::string(dependence.on) + " is false");
  }
  const Origin& planning = origins.Of(path + ".checkpoint_planning");
  const bool is_taken = config.memory_budget_mb.has_value() || config.num_devices > 1;
  if (config.use_gradient_checkpointing && is_taken && IsWritten(planning)) {
    notes.push_back("checkpoint_planning (" + ShortText(planning) + ") has no effect with " +
                    (config.memory_budget_mb ? "memory_budget_mb, which plans segments itself"
                                             : "several devices, whose runs are as stated"));
  }
  if (!config.memory_page_file) {
    for (const char* field : {"memory_page_kinds", "memory_page_activations_mb",
                              "memory_page_buffer_mb", "memory_page_least_kb"}) {
      const Origin& origin = origins.Of(path + "." + field);
      if (!IsWritten(origin)) continue;
      notes.push_back(std::string(field) + " (" + ShortText(origin) +
                      ") has no effect without memory_page_file");
    }
  }
  const bool pages =
      config.memory_page_kinds != PagedKinds::kNone || config.memory_page_activations_mb > 0;
  if (config.memory_page_file && !pages && !config.memory_budget_mb) {
    notes.push_back("memory_page_file (" + ShortText(origins.Of(path + ".memory_page_file")) +
                    ") has no effect with memory_page_kinds = \"None\" and no "
                    "memory_page_activations_mb");
  }
  const Origin& costs = origins.Of(path + ".planner_costs");
  if (!config.memory_budget_mb && IsWritten(costs)) {
    notes.push_back("planner_costs (" + ShortText(costs) +
                    ") has no effect without memory_budget_mb");
  }
  return notes;
}

}  // namespace frugal
