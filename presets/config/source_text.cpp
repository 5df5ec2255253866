#include "presets/config/source_text.h"

#include <algorithm>

#include "presets/config/value.h"

namespace frugal {
namespace {

// Byte where a column begins: bytes 10xxxxxx continue the character before them.
std::size_t ByteOf(std::string_view line, std::size_t column) {
  std::size_t at = 0;
  for (std::size_t left = column; left > 1 && at < line.size(); --left) {
    do {
      ++at;
    } while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80);
  }
  return at;
}

}  // namespace

SourceText::SourceText(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines_.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string SourceText::Quote(Place begin, Place end) const {
  if (begin.line == 0 || begin.line > lines_.size()) return "";
  const std::string_view line = lines_[begin.line - 1];
  const bool one_line = begin.line == end.line;
  const std::size_t first = ByteOf(line, begin.column);
  const std::size_t last = one_line ? std::max(first, ByteOf(line, end.column)) : line.size();
  const std::string quote = Shorten(line.substr(first, last - first));
  return one_line ? quote : quote + " ...";
}

}  // namespace frugal
