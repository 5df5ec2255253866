#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sdk/comm/communicator.h"

namespace frugal {

// The processes that were started together to train on a device each.
struct LaunchedRanks {
  Communicator* ranks = nullptr;  // of all of them
  std::vector<int> on_machine{};  // those of this machine
  std::int64_t link_bytes = 0;    // memory that those of this machine share to send to each other
  int sharing = 1;  // how many of them, this one included, share the processors of this one's mask
  // Tells all others that this one cannot go on, and why.
  std::function<void(const std::string& message)> fail{};
};

// Returns those that this process belongs to, or null where it was started alone.
const LaunchedRanks* Launched();
// True in a process that was started alone and in the first of several, which prints and writes.
bool IsFirstProcess();

// While it lives, this process belongs to those.
class LaunchedScope {
 public:
  explicit LaunchedScope(const LaunchedRanks& ranks);
  LaunchedScope(const LaunchedScope&) = delete;
  LaunchedScope& operator=(const LaunchedScope&) = delete;
  ~LaunchedScope();

 private:
  LaunchedRanks ranks_;
};

}  // namespace frugal
