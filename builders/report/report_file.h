#pragma once

#include <string>
#include <string_view>

namespace frugal {

// Writes a whole text file (report, summary) or nothing: an interruption leaves what was there
// before. Throws FileError where the system does not let it.
void WriteTextFile(const std::string& path, std::string_view text);

}  // namespace frugal
