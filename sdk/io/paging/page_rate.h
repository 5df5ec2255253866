#pragma once

#include <string>

namespace frugal {

// Bytes per second that go to a page file and come back, and that are copied on their way between
// tensors and the memory that is written from and read into.
struct PageRate {
  double write = 0;
  double read = 0;
  double copy = 0;
};

// Measures it by some megabytes at this path, once for each path. Throws FileError where no page
// file can be made there.
PageRate PageRateAt(const std::string& path);

}  // namespace frugal
