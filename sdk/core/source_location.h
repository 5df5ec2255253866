#pragma once

#include <cstdint>
#include <string>

namespace frugal {

// The place of something in a text. Line 0 means no file but the command line, and `file` is then
// the option as it was typed: "--set memory.num_devices=2". Text without a file has no place.
struct SourceLocation {
  std::string file = {};
  std::int64_t line = 0;    // from 1
  std::int64_t column = 0;  // from 1, in characters

  bool empty() const { return file.empty(); }
  bool IsCommandLine() const { return line == 0 && !file.empty(); }
  bool operator==(const SourceLocation&) const = default;
};

std::string ToString(const SourceLocation& location);  // "train.toml:7:1", or "" for no place

}  // namespace frugal
