#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "sdk/io/file_system.h"

namespace frugal {

// A file that is being written. Its name tells the host and the process; while it is open it is
// locked (flock), by which everybody sees that its writer lives. A lock goes with its process,
// however that ends, and works on every file system where locks do: unnamed files (O_TMPFILE) are
// not everywhere, and cannot replace a file in one step.
struct PartialFile {
  std::string path = {};
  int descriptor = -1;         // -1 where it could not be made
  std::error_code error = {};  // why not
};

// Makes an empty file in `directory`, of these permissions less the process's mask. `mode` is one
// of those that make new files.
PartialFile CreatePartial(FileSystem& files, const std::filesystem::path& directory, OpenMode mode,
                          mode_t permissions);

// Removes the partial files in `directory` whose writers on this host are gone. Leaves what it
// cannot open or lock.
void RemoveAbandoned(FileSystem& files, const std::filesystem::path& directory);

}  // namespace frugal
