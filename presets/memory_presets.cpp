#include "presets/memory_presets.h"

#include "presets/config/resolved.h"
#include "presets/memory_fields.h"

namespace frugal {
namespace {

TrainingMemoryConfig BegunAs(const std::string& preset, TrainingMemoryConfig config) {
  config.began_as = {};
  auto values = std::make_shared<const TrainingMemoryConfig>(config);
  config.began_as = {.preset = preset, .values = std::move(values)};
  return config;
}

}  // namespace

std::vector<PresetSetting> PresetSettings(std::string_view name, const PresetArguments& arguments) {
  TrainingMemoryConfig config;
  Origins origins;
  ApplyNamedPreset(name, arguments, {}, config, origins);
  std::vector<PresetSetting> settings;
  for (const FlatField& field : Flatten(MemoryFields(), &config)) {
    if (origins.Of(MemoryPath(field.name)).kind != OriginKind::kPreset) continue;
    settings.push_back({field.name, field.value});
  }
  return settings;
}

TrainingMemoryConfig PresetByName(std::string_view name, const PresetArguments& arguments) {
  TrainingMemoryConfig config;
  Origins origins;
  ApplyNamedPreset(name, arguments, {}, config, origins);
  return BegunAs(std::string(name), std::move(config));
}

TrainingMemoryConfig ReadMemoryPreset(const std::string& path) {
  TrainingMemoryConfig config;
  Origins origins;
  Diagnostics diagnostics;
  ApplyPresetFile(path, config, origins, diagnostics);
  diagnostics.ThrowIfAny();
  return BegunAs(path, std::move(config));
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
  const BeganAs& began = after.began_as;
  const TrainingMemoryConfig start = began.values ? *began.values : before;
  if (began.values) {
    MarkChanges(MemoryFields(), &before, &start, "memory", Origin::Preset(began.preset), origins);
  }
  MarkChanges(MemoryFields(), &start, &after, "memory", Origin::Code(), origins);
}

}  // namespace frugal
