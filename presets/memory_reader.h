#pragma once

#include <string>

#include "presets/config/config_node.h"
#include "presets/config/diagnostics.h"
#include "presets/config/field.h"
#include "presets/config/origins.h"
#include "presets/preset_names.h"
#include "presets/training_memory_config.h"

namespace frugal {

// Reads a [memory] table: the defaults, then what `preset` sets, by name or by the path of a file
// (preset_chain.h), then the table's own keys. Noted in `origins` under "memory.field". Unknown
// keys, wrong values and contradictions become diagnostics; the result is only good if there are
// none. Presets take their arguments from the same table: MultiGpu from num_devices,
// AggressivePooling from max_pool_memory_mb, ForTransferLearning from weights_file_path and
// weights_file_format.
TrainingMemoryConfig ReadMemory(const ConfigNode& table, Origins& origins,
                                Diagnostics& diagnostics);

// Reads the tree of a whole file in the same way; its [memory] table may be missing. Other sections
// are not read.
TrainingMemoryConfig ReadMemoryOf(const ConfigNode& root, Origins& origins,
                                  Diagnostics& diagnostics);

// Reads a file or text of TOML in the same way, throwing one ConfigError with all diagnostics.
TrainingMemoryConfig ReadMemoryFile(const std::string& path);
TrainingMemoryConfig ReadMemoryText(const std::string& toml);

// The configuration as a [memory] table, every field written out; reading it gives an equal one.
std::string WriteMemoryToml(const TrainingMemoryConfig& config);

// The configuration as the file of a preset, every field with what it does, below a line that says
// that it is the policy of `source`. Reading it by `preset` gives an equal one.
std::string WriteMemoryPreset(const TrainingMemoryConfig& config, const std::string& source);

}  // namespace frugal
