#pragma once

#include <string>
#include <string_view>

namespace frugal {

// Whether the text is well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above
// U+10FFFF.
bool IsUtf8(std::string_view text);

// At most so many bytes of the text, no character cut in two, with "..." where some are left out.
std::string Shortened(std::string_view text, std::size_t most);

}  // namespace frugal
