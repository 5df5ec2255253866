#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace frugal::style {

// Says which call in a line of the library changes files past sdk/io/file_system.h, where no test
// can put a fault in; nothing where none does. `path` is the file's, from the root on.
std::optional<std::string> WriteProblem(std::string_view path, std::string_view line);

}  // namespace frugal::style
