#pragma once

#include <filesystem>
#include <string>

namespace frugal {

// Returns the file that writing to `path` makes or replaces. Links are followed, also to a file
// that is not there yet, as a shell's `>` does: a link stays, and what it leads to is written.
// Throws FileError for an empty path, a NUL in it, a directory, a device, a link that leads back to
// itself or must not be followed, a file that is write-protected or that the system lets nobody
// replace.
std::filesystem::path ResolveOutput(const std::string& path);

// Returns the directory of a file, "." for a name without one.
std::filesystem::path DirectoryOf(const std::filesystem::path& file);

}  // namespace frugal
