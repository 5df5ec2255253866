#pragma once

#include <string>

namespace frugal {

// The bytes of a file. Throws DataError where it is missing, no regular file, unreadable, empty, or
// larger than 1 GB.
std::string ReadWholeFile(const std::string& path);

}  // namespace frugal
