#pragma once

#include <filesystem>
#include <string>

namespace frugal {

// The content of a configuration file. Throws ConfigError where it is missing, a directory,
// unreadable, or larger than 16 MB.
std::string ReadTextFile(const std::filesystem::path& path);

}  // namespace frugal
