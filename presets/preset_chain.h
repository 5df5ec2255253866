#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "presets/config/config_node.h"
#include "presets/config/diagnostics.h"
#include "presets/config/origins.h"
#include "presets/training_memory_config.h"

namespace frugal {

// Holds what some presets ask for, where it is not as in their files. In TOML these are fields of
// the table that names the preset.
struct PresetArguments {
  std::optional<std::int64_t> num_devices = {};           // MultiGpu
  std::optional<std::int64_t> max_pool_memory_mb = {};    // AggressivePooling: of both pools
  std::optional<std::string> weights_file_path = {};      // ForTransferLearning
  std::optional<WeightsFormat> weights_file_format = {};  // ForTransferLearning
};

// Returns true for the path of a preset's file ("team.toml", "presets/team"), false for a name.
bool IsPresetPath(std::string_view preset);

// Takes from a [memory] table what presets ask for; wrong values are left out.
PresetArguments PresetArgumentsIn(const ConfigNode& table);

// Sets what one of the nine presets sets. Notes in `origins` under "memory.field" that it came from
// the preset, which was named at `place`. Throws ConfigError for an unknown name, and suggests the
// nearest.
void ApplyNamedPreset(std::string_view name, const PresetArguments& arguments,
                      const SourceLocation& place, TrainingMemoryConfig& config, Origins& origins);

// Sets what the preset sets that the key `preset` of a [memory] table names, by name or by the path
// of a file; paths count from the file that holds them. The file's [memory] table may `extend` a
// preset in the same way. Its values are noted with their places in it. Returns false, having
// complained, where a preset is unknown, a file missing or wrong, or a chain comes back to itself.
bool ApplyPresetOf(const ConfigNode& table, TrainingMemoryConfig& config, Origins& origins,
                   Diagnostics& diagnostics);

// Does the same for the file of a preset.
bool ApplyPresetFile(const std::string& path, TrainingMemoryConfig& config, Origins& origins,
                     Diagnostics& diagnostics);

}  // namespace frugal
