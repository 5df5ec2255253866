#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sdk/core/error.h"

namespace frugal {

// Gathers everything that is wrong with a configuration, so that one error can say it all at once.
class Diagnostics {
 public:
  void Add(const SourceLocation& location, const Diagnostic& diagnostic);

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }

  // One line each, as DescribeAt says it, in the order of the file; those of the command line come
  // after the file's, those without a place last.
  std::vector<std::string> Lines() const;

  // Throws one ConfigError with all lines, or at most the first hundred and a count of the others.
  // A single diagnostic keeps its parts.
  void ThrowIfAny() const;

 private:
  struct Item {
    SourceLocation location;
    Diagnostic diagnostic;
  };
  std::vector<Item> items_;
};

}  // namespace frugal
