#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace frugal {

// A place in a text: its line from 1, and its column from 1, in UTF-8 characters.
struct TextPlace {
  std::size_t line = 0;
  std::size_t column = 0;
};

// The lines of a text, to quote from it in messages. Keeps views: the text must live on. A quote
// takes no longer at the end of a long line than at its beginning.
class SourceText {
 public:
  // A byte order mark does not count.
  explicit SourceText(std::string_view text);

  // Returns what stands between two places, shortened, and only its first line; "" outside of the
  // text.
  std::string Quote(const TextPlace& begin, const TextPlace& end) const;

 private:
  struct Line {
    std::string_view text;
    std::vector<std::size_t> marks;  // bytes at which every kStride-th character begins
  };

  static Line Marked(std::string_view text);
  static std::size_t ByteOf(const Line& line, std::size_t column);

  std::vector<Line> lines_;
};

}  // namespace frugal
