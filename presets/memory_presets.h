#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "presets/config/origins.h"
#include "presets/config/value.h"
#include "presets/preset_chain.h"
#include "presets/preset_names.h"
#include "presets/training_memory_config.h"

namespace frugal {

// A field that a preset sets, whether or not it differs from the default.
struct PresetSetting {
  std::string field;  // dotted: "tensor_pool_options.max_pool_size_mb"
  Value value;
};

// Returns what a preset sets. Throws ConfigError for an unknown name, as does PresetByName.
std::vector<PresetSetting> PresetSettings(std::string_view name,
                                          const PresetArguments& arguments = {});

// The defaults with the preset's settings.
TrainingMemoryConfig PresetByName(std::string_view name, const PresetArguments& arguments = {});

// Reads the file of a preset of your own: a [memory] table that may `extend` one of the nine, or
// another file beside it. Throws one ConfigError with all that is wrong with it.
TrainingMemoryConfig ReadMemoryPreset(const std::string& path);

// Notes where code that replaces `before` by `after` got its changed values: from the preset that
// it began as, or from itself.
void MarkMemoryChanges(const TrainingMemoryConfig& before, const TrainingMemoryConfig& after,
                       Origins& origins);

}  // namespace frugal
