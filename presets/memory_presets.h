#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "presets/config/origins.h"
#include "presets/config/value.h"
#include "presets/training_memory_config.h"

namespace frugal {

// Holds what some presets ask for. In TOML these are fields of the same table.
struct PresetArguments {
  std::int64_t num_devices = 1;                              // MultiGpu
  std::int64_t max_pool_memory_mb = 512;                     // AggressivePooling
  std::optional<std::string> weights_file_path = {};         // ForTransferLearning
  WeightsFormat weights_file_format = WeightsFormat::kAuto;  // ForTransferLearning
};

// A field that a preset sets, whether or not it differs from the default.
struct PresetSetting {
  std::string field;  // dotted: "tensor_pool_options.max_pool_size_mb"
  Value value;
};

std::vector<std::string> PresetNames();

// One line: what the preset is for. Throws ConfigError for an unknown name, as do those below.
std::string PresetDoc(std::string_view name);

std::vector<PresetSetting> PresetSettings(std::string_view name,
                                          const PresetArguments& arguments = {});

// The defaults with the preset's settings. The error for an unknown name suggests the nearest.
TrainingMemoryConfig PresetByName(std::string_view name, const PresetArguments& arguments = {});

// Notes where code that replaces `before` by `after` got its changed values: from the preset that
// it began as, or from itself.
void MarkMemoryChanges(const TrainingMemoryConfig& before, const TrainingMemoryConfig& after,
                       Origins& origins);

}  // namespace frugal
