#pragma once

#include <string_view>
#include <vector>

namespace frugal {

// A published model by name: the TOML of presets/models/<name>.toml, with [model] family and
// [model.config].
struct ModelPreset {
  std::string_view name;
  std::string_view toml;
};

const std::vector<ModelPreset>& ModelPresets();

}  // namespace frugal
