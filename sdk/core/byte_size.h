#pragma once

#include <cstdint>
#include <string>

namespace frugal {

inline constexpr std::int64_t kBytesPerMegabyte = std::int64_t{1} << 20;

// "0 B", "812 B", "3.2 KB", "47.1 MB", "1,420 MB": binary units (1 MB = 1,048,576 bytes).
std::string FormatBytes(std::int64_t bytes);

// "1,234,567"
std::string FormatCount(std::int64_t count);

}  // namespace frugal
