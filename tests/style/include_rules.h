#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace frugal::style {

// Why the file at `path` may not include `header`, or nothing where it may. Both paths are relative
// to the root of the repository; `quoted` tells "header" from <header>.
std::optional<std::string> IncludeProblem(std::string_view path, std::string_view header,
                                          bool quoted);

}  // namespace frugal::style
