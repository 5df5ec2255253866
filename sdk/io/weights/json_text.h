#pragma once

#include <string>
#include <string_view>

namespace frugal {

// The text as a JSON string, with quotes and escapes. It must be UTF-8.
std::string QuoteJson(std::string_view text);

// Returns what the JSON library says, without its error number: "parse error at line 1, column 3:
// ...". The text is shortened: it quotes what was read last, which may be most of a file.
std::string WithoutErrorNumber(const std::string& message);

}  // namespace frugal
