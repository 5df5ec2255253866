#include "sdk/capture/call_selection.h"

#include <algorithm>

namespace frugal {

bool FitsPattern(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, read = 0;
  std::size_t star = std::string_view::npos, behind_star = 0;
  while (read < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = read;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[read])) {
      ++at, ++read;
    } else if (star != std::string_view::npos) {  // the last star takes one more
      at = star + 1;
      read = ++behind_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool CallSelection::Takes(std::string_view kernel, std::string_view path) const {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return FitsPattern(pattern, kernel) || FitsPattern(pattern, path);
         });
}

}  // namespace frugal
