#pragma once

#include <string_view>
#include <vector>

namespace frugal {

// One of the nine presets as it travels in the library: the text of presets/<stem>.toml.
struct MemoryPresetFile {
  std::string_view stem;  // "for_conv_nets"
  std::string_view toml;
};

const std::vector<MemoryPresetFile>& MemoryPresetFiles();

}  // namespace frugal
