#pragma once

#include <string>

namespace frugal {

// Bytes per second that go to a page file and come back, and that are copied on their way between
// tensors and the memory that is written from and read into.
struct PageRate {
  double write = 0;
  double read = 0;
  double copy = 0;
  // Seconds by which kernels take longer for each byte that is written or read beside them: all of
  // their threads wait for the one whose core does the system's work, or, in a virtual machine,
  // that of the disk's host.
  double delay = 0;
};

// Measures it by some megabytes at this path, once for each path, in half a second or so.
// Throws FileError where no page file can be made there.
PageRate PageRateAt(const std::string& path);

}  // namespace frugal
