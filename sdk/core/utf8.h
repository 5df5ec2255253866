#pragma once

#include <string>
#include <string_view>

namespace frugal {

// Returns true where the text is well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates,
// nothing above U+10FFFF.
bool IsUtf8(std::string_view text);

// Returns at most so many bytes of the text, no character cut in two, with "..." where some are
// left out.
std::string Shortened(std::string_view text, std::size_t most);

// The text with '?' for each control character but line breaks: names come from files and command
// lines, where a zero byte would end a message, and an escape drive the terminal.
std::string WithoutControls(std::string text);

// The name in single quotes, on one line, and shortened where it would flood a message.
std::string QuotedName(std::string_view name);

}  // namespace frugal
