#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "presets/config/field.h"

namespace frugal {

std::vector<std::string> PresetNames();

// The text of a preset's file, presets/<name>.toml as it was compiled in. Throws ConfigError for an
// unknown name, suggesting the nearest, as does PresetDoc.
std::string PresetText(std::string_view name);

// One line: what the preset is for, as the first line of its file says.
std::string PresetDoc(std::string_view name);

// The key `preset`, which is no member of the configuration, and the key `extend` of presets'
// files, for documentation and schema.
Field PresetField();
Field ExtendField();

}  // namespace frugal
