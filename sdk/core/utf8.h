#pragma once

#include <string_view>

namespace frugal {

// Whether the text is well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above
// U+10FFFF.
bool IsUtf8(std::string_view text);

}  // namespace frugal
