#pragma once

#include <chrono>
#include <string>

#include "sdk/core/log.h"

namespace frugal {

// Tells of work that lasts, every two seconds at most; of what is done sooner it says nothing.
class SlowWork {
 public:
  explicit SlowWork(std::chrono::milliseconds quiet = std::chrono::seconds(2)) : quiet_(quiet) {}

  // words() is only made where it is told.
  template <class Words>
  void Tell(const Words& words) {
    const auto now = Clock::now();
    if (now - last_ < quiet_) return;
    last_ = now;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    LogInfo(words() + " (" + std::to_string(seconds) + " s)");
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds quiet_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace frugal
