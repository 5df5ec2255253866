#include "sdk/core/source_location.h"

namespace frugal {

std::string ToString(const SourceLocation& location) {
  if (location.empty() || location.line == 0) return location.file;
  return location.file + ":" + std::to_string(location.line) + ":" +
         std::to_string(location.column);
}

}  // namespace frugal
