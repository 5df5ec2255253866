#include "presets/config/source_text.h"

#include <algorithm>

#include "presets/config/value.h"

namespace frugal {
namespace {

constexpr std::size_t kStride = 64;  // characters from one mark to the next

// The byte behind the character at `at`: bytes 10xxxxxx continue a character.
std::size_t NextCharacter(std::string_view text, std::size_t at) {
  do {
    ++at;
  } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

}  // namespace

SourceText::SourceText(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines_.push_back(Marked(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

SourceText::Line SourceText::Marked(std::string_view text) {
  Line line{text, {}};
  std::size_t left = kStride;
  for (std::size_t at = 0; at < text.size(); at = NextCharacter(text, at)) {
    if (--left > 0) continue;
    left = kStride;
    line.marks.push_back(NextCharacter(text, at));
  }
  return line;
}

// The byte where a column begins, the end of the line where it has fewer.
std::size_t SourceText::ByteOf(const Line& line, std::size_t column) {
  if (column <= 1) return 0;
  std::size_t left = column - 1;
  std::size_t at = 0;
  if (const std::size_t marks = std::min(left / kStride, line.marks.size()); marks > 0) {
    at = line.marks[marks - 1];
    left -= marks * kStride;
  }
  for (; left > 0 && at < line.text.size(); --left) at = NextCharacter(line.text, at);
  return at;
}

std::string SourceText::Quote(const TextPlace& begin, const TextPlace& end) const {
  if (begin.line == 0 || begin.line > lines_.size()) return "";
  const Line& line = lines_[begin.line - 1];
  const bool one_line = begin.line == end.line;
  const std::size_t first = ByteOf(line, begin.column);
  const std::size_t last = one_line ? std::max(first, ByteOf(line, end.column)) : line.text.size();
  const std::string quote = Shorten(line.text.substr(first, last - first));
  return one_line ? quote : quote + " ...";
}

}  // namespace frugal
