#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sdk/capture/recorder/call_recorder.h"

namespace frugal {

// Returns true where a text fits a pattern, in which * stands for any text and ? for one character.
bool FitsPattern(std::string_view pattern, std::string_view text);

// Says which calls are taken: those whose kernel ("attention*") or path ("blocks.0.*") fits a
// pattern; without any, all.
struct CallSelection {
  std::vector<std::string> patterns{};

  bool Takes(std::string_view kernel, std::string_view path) const;
};

}  // namespace frugal
