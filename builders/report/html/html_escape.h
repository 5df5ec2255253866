#pragma once

#include <string>
#include <string_view>

namespace frugal {

// The text as HTML and SVG show it, in elements and in quoted attributes alike. Control characters
// and bytes that are not UTF-8 become '?'.
std::string EscapeHtml(std::string_view text);

}  // namespace frugal
