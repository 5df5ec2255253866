#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace frugal {

struct TextColumn {
  std::string title;
  bool right = false;  // numbers
};

// Aligned columns, two spaces apart, each line indented by two and ending in a newline. Lines wider
// than `width` are brought down to it by cutting cells of the column `flexible`, and where that is
// not enough, of the first. Without titles there is no head line.
struct TextTable {
  std::vector<TextColumn> columns;
  std::vector<std::vector<std::string>> rows;
  std::size_t flexible = 0;
  std::size_t width = 100;
};
std::string ToText(const TextTable& table);

// The text without what would break a line or drive a terminal: control characters, and bytes that
// are not UTF-8, become '?'.
std::string Printable(std::string_view text);
// Characters of UTF-8 text.
std::size_t CharacterCount(std::string_view text);
// The text itself, or its beginning and "...", in at most `most` characters.
std::string CutTo(const std::string& text, std::size_t most);

}  // namespace frugal
