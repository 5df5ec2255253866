#pragma once

#include <cstdint>
#include <string_view>

namespace frugal {

enum class WeightsFileFormat : std::uint8_t { kAuto, kJson, kBinary, kSafetensors, kCount };

std::string_view NameOf(WeightsFileFormat format);  // "auto", "JSON", "binary", "safetensors"

}  // namespace frugal
