#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace frugal {

// The content of a configuration file. Throws ConfigError where it is missing, a directory,
// unreadable, or larger than 16 MB.
// A file that is missing is answered with the nearest name in its directory.
std::string ReadTextFile(const std::filesystem::path& path);

// "did you mean 'my.toml'?", by the names of files beside `path`; "" where none is near enough.
std::string SuggestFile(const std::filesystem::path& path,
                        const std::vector<std::string>& other_names = {});

}  // namespace frugal
