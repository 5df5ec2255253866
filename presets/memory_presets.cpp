#include "presets/memory_presets.h"

#include <array>

#include "presets/config/nearest_name.h"
#include "presets/config/resolved.h"
#include "presets/memory_fields.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using Settings = std::vector<PresetSetting>;

Settings DefaultSettings(const PresetArguments&) { return {}; }

Settings MemoryEfficientSettings(const PresetArguments&) {
  return {{"use_gradient_checkpointing", true},  {"checkpoint_every_n_layers", 1},
          {"checkpoint_attention_layers", true}, {"checkpoint_residual_blocks", true},
          {"use_activation_pooling", true},      {"max_pool_memory_mb", 2048}};
}

Settings SpeedOptimizedSettings(const PresetArguments&) {
  return {{"use_gradient_checkpointing", false},
          {"use_activation_pooling", true},
          {"max_pool_memory_mb", 8192}};
}

Settings MultiGpuSettings(const PresetArguments& arguments) {
  return {{"use_gradient_checkpointing", true},   {"checkpoint_every_n_layers", 2},
          {"use_activation_pooling", true},       {"max_pool_memory_mb", 4096},
          {"num_devices", arguments.num_devices}, {"sharding_strategy", "MemoryBalanced"},
          {"use_pipeline_parallelism", true},     {"micro_batch_count", 4}};
}

Settings ForTransformersSettings(const PresetArguments&) {
  return {{"use_gradient_checkpointing", true},  {"checkpoint_every_n_layers", 1},
          {"checkpoint_attention_layers", true}, {"checkpoint_residual_blocks", true},
          {"use_activation_pooling", true},      {"max_pool_memory_mb", 4096}};
}

Settings ForConvNetsSettings(const PresetArguments&) {
  return {{"use_gradient_checkpointing", true},   {"checkpoint_every_n_layers", 3},
          {"checkpoint_attention_layers", false}, {"checkpoint_residual_blocks", true},
          {"use_activation_pooling", true},       {"max_pool_memory_mb", 2048}};
}

Settings ForTransferLearningSettings(const PresetArguments& arguments) {
  const std::optional<std::string>& path = arguments.weights_file_path;
  return {{"use_gradient_checkpointing", true},
          {"checkpoint_every_n_layers", 2},
          {"use_activation_pooling", true},
          {"max_pool_memory_mb", 4096},
          {"use_tensor_pooling", true},
          {"default_initialization_strategy", "FromFile"},
          {"weights_file_path", path ? Value{*path} : Value{}},
          {"weights_file_format", NameIn(WeightsFormatChoices(), arguments.weights_file_format)}};
}

Settings FastConstructionSettings(const PresetArguments&) {
  return {{"use_gradient_checkpointing", false},
          {"use_activation_pooling", false},
          {"use_tensor_pooling", false},
          {"default_initialization_strategy", "Lazy"}};
}

Settings AggressivePoolingSettings(const PresetArguments& arguments) {
  return {{"use_activation_pooling", true},
          {"max_pool_memory_mb", arguments.max_pool_memory_mb},
          {"use_tensor_pooling", true},
          {"tensor_pool_options.max_pool_size_mb", arguments.max_pool_memory_mb},
          {"tensor_pool_options.max_items_per_bucket", 20},
          {"tensor_pool_options.use_weak_references", false},
          {"use_shared_tensor_pool", true}};
}

struct Preset {
  std::string_view name;
  std::string_view doc;
  Settings (*settings)(const PresetArguments&);
};

constexpr std::array<Preset, 9> kPresets = {{
    {"Default", "The defaults, nothing set.", DefaultSettings},
    {"MemoryEfficient",
     "Every layer keeps only its input and is computed again in the backward pass.",
     MemoryEfficientSettings},
    {"SpeedOptimized", "Nothing is computed twice, and a large pool keeps memory at hand.",
     SpeedOptimizedSettings},
    {"MultiGpu", "Layers balanced by memory over devices, as a pipeline.", MultiGpuSettings},
    {"ForTransformers", "Every layer, attention layer and residual block is computed again.",
     ForTransformersSettings},
    {"ForConvNets", "Runs of three layers and residual blocks are computed again.",
     ForConvNetsSettings},
    {"ForTransferLearning", "Weights come from a file; runs of two layers are computed again.",
     ForTransferLearningSettings},
    {"FastConstruction", "A model is built at once, without allocating its weights.",
     FastConstructionSettings},
    {"AggressivePooling", "Freed buffers are kept for what comes next, up to a limit.",
     AggressivePoolingSettings},
}};

const Preset& FindPreset(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return preset;
  }
  throw ConfigError({"memory", "'preset' must be one of " + JoinWithCommas(PresetNames()),
                     Shorten(QuoteToml(name)) + " was given", SuggestName(name, PresetNames())});
}

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

std::string PresetDoc(std::string_view name) { return std::string(FindPreset(name).doc); }

std::vector<PresetSetting> PresetSettings(std::string_view name, const PresetArguments& arguments) {
  return FindPreset(name).settings(arguments);
}

TrainingMemoryConfig PresetByName(std::string_view name, const PresetArguments& arguments) {
  TrainingMemoryConfig config;
  for (const PresetSetting& setting : PresetSettings(name, arguments)) {
    SetByName(MemoryFields(), &config, setting.field, setting.value);
  }
  config.began_as.preset = name;
  return config;
}

TrainingMemoryConfig TrainingMemoryConfig::Default() { return PresetByName("Default"); }

TrainingMemoryConfig TrainingMemoryConfig::MemoryEfficient() {
  return PresetByName("MemoryEfficient");
}

TrainingMemoryConfig TrainingMemoryConfig::SpeedOptimized() {
  return PresetByName("SpeedOptimized");
}

TrainingMemoryConfig TrainingMemoryConfig::MultiGpu(std::int64_t num_devices) {
  return PresetByName("MultiGpu", {.num_devices = num_devices});
}

TrainingMemoryConfig TrainingMemoryConfig::ForTransformers() {
  return PresetByName("ForTransformers");
}

TrainingMemoryConfig TrainingMemoryConfig::ForConvNets() { return PresetByName("ForConvNets"); }

TrainingMemoryConfig TrainingMemoryConfig::ForTransferLearning(const std::string& weights_file_path,
                                                               WeightsFormat format) {
  return PresetByName("ForTransferLearning",
                      {.weights_file_path = weights_file_path, .weights_file_format = format});
}

TrainingMemoryConfig TrainingMemoryConfig::FastConstruction() {
  return PresetByName("FastConstruction");
}

TrainingMemoryConfig TrainingMemoryConfig::AggressivePooling(std::int64_t max_pool_memory_mb) {
  return PresetByName("AggressivePooling", {.max_pool_memory_mb = max_pool_memory_mb});
}

void MarkMemoryChanges(const TrainingMemoryConfig& before, const TrainingMemoryConfig& after,
                       Origins& origins) {
  const std::string& name = after.began_as.preset;
  TrainingMemoryConfig start = before;
  if (!name.empty()) {
    start = PresetByName(name, {.num_devices = after.num_devices,
                                .max_pool_memory_mb = after.max_pool_memory_mb,
                                .weights_file_path = after.weights_file_path,
                                .weights_file_format = after.weights_file_format});
    MarkChanges(MemoryFields(), &before, &start, "memory", Origin::Preset(name), origins);
  }
  MarkChanges(MemoryFields(), &start, &after, "memory", Origin::Code(), origins);
}

}  // namespace frugal
