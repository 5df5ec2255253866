#pragma once

#include <string>

namespace frugal {

// Reads a file of a snapshot that holds JSON, of at most 64 MB, and returns its text. Throws
// SnapshotError where it cannot be read, or nests so deep that whoever reads it would run out of
// stack.
std::string ReadSnapshotJson(const std::string& path);

}  // namespace frugal
