#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "presets/config/config_node.h"

namespace frugal {

// Depth of dotted keys. The parser recurses once per part, so a hostile file could exhaust the
// stack; it limits the depth of arrays and inline tables itself.
inline constexpr int kMostKeyParts = 32;

// Reads a TOML 1.0 file. An empty file is an empty table. Throws ConfigError where the file is
// missing, no file, larger than 2 MB, or not TOML; the last with file:line:column.
ConfigNode ParseTomlFile(const std::filesystem::path& path);

// Reads TOML from memory, of at most as many bytes; `name` stands for the file in locations.
ConfigNode ParseTomlText(std::string_view text, const std::string& name);

// Reads one value as it stands to the right of `key =`; nothing if the text is no TOML value.
std::optional<ConfigNode> ParseTomlValue(std::string_view text);

}  // namespace frugal
