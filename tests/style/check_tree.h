#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace frugal::style {

struct Finding {
  std::string file;  // relative to the root that was checked
  int line = 1;
  std::string message;

  bool operator==(const Finding&) const = default;
};

// "file:line: message"
std::string ToString(const Finding& finding);

// Returns what in the repository at `root` breaks a rule, in order of files and lines: includes
// that cross a fence or point nowhere, writing past the one file system, long files, tabs, trailing
// spaces, headers without #pragma once, comments that begin as no sentence does, foreign names at
// the top, and behind them crowded folders and circles of includes.
std::vector<Finding> CheckTree(const std::filesystem::path& root);

}  // namespace frugal::style
