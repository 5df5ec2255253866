#pragma once

#include <string>

namespace frugal {

// One line on standard error, "warning: ...".
void LogWarning(const std::string& message);
// One line there, "info: ...", of what takes long.
void LogInfo(const std::string& message);

// From now on this process is silent: another one says the same.
void SilenceLog();

}  // namespace frugal
