#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace frugal {

// The lines of a text, to quote from it in messages. Keeps views: the text must live on.
class SourceText {
 public:
  explicit SourceText(std::string_view text);  // a byte order mark does not count

  struct Place {
    std::size_t line = 0;    // from 1
    std::size_t column = 0;  // from 1, in UTF-8 characters
  };

  // Returns what stands between two places, shortened, and only its first line; "" outside of the
  // text.
  std::string Quote(Place begin, Place end) const;

 private:
  std::vector<std::string_view> lines_;
};

}  // namespace frugal
