#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace frugal {

// A configuration may have so many bytes: as a tree it takes up to 220 for each of the text, and
// half a second in all. The largest of ours has a few kilobytes.
inline constexpr std::size_t kMostConfigBytes = std::size_t{2} << 20;

// The content of a configuration file. Throws ConfigError where it is missing, a directory,
// unreadable, or larger than 2 MB.
// A file that is missing is answered with the nearest name in its directory.
std::string ReadTextFile(const std::filesystem::path& path);

// "did you mean 'my.toml'?", by the names of files beside `path`; "" where none is near enough.
std::string SuggestFile(const std::filesystem::path& path,
                        const std::vector<std::string>& other_names = {});

}  // namespace frugal
