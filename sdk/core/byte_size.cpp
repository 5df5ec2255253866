#include "sdk/core/byte_size.h"

#include <cstdio>

namespace frugal {

std::string FormatCount(std::int64_t count) {
  std::string digits = std::to_string(count < 0 ? -count : count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return count < 0 ? "-" + digits : digits;
}

std::string FormatBytes(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  const bool kilo = bytes < kBytesPerMegabyte;
  const double value = static_cast<double>(bytes) / (kilo ? 1024.0 : 1048576.0);
  const char* unit = kilo ? " KB" : " MB";
  if (value >= 1000.0) return FormatCount(static_cast<std::int64_t>(value + 0.5)) + unit;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text + std::string(unit);
}

}  // namespace frugal
