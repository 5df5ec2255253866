#pragma once

#include <string>

namespace frugal {

// One line on standard error, "warning: ...".
void LogWarning(const std::string& message);

}  // namespace frugal
