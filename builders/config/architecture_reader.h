#pragma once

#include <optional>

#include "builders/config/types/architecture.h"
#include "presets/config/config_node.h"
#include "presets/config/diagnostics.h"
#include "presets/config/origins.h"

namespace frugal {

// Keys of [model] that ReadArchitecture reads: family, preset, config.
std::vector<std::string> ArchitectureKeys();

// The fields family and preset, for schemas.
std::vector<Field> ArchitectureFields();

// The names of the published models of a family.
std::vector<std::string> PresetsOf(const ArchitectureFamily& family);

// Reads [model] family = "gpt2" or preset = "gpt2-xl" (of presets/models) and [model.config], whose
// keys change what the preset says. Nothing where the table has none of them.
std::optional<ArchitectureConfig> ReadArchitecture(const ConfigNode& model, Origins& origins,
                                                   Diagnostics& diagnostics);

// A published model by name. Throws ConfigError, with the nearest name, where there is none.
ArchitectureConfig ArchitectureNamed(const std::string& preset);

}  // namespace frugal
