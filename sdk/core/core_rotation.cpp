#include "sdk/core/core_rotation.h"

namespace frugal {

CoreRotation::CoreRotation(std::int64_t busy_threads, std::int64_t turn) : turn_(turn) {
  CPU_ZERO(&before_);
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  const std::int64_t count = CPU_COUNT(&before_);
  if (count < 2 || count > busy_threads) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &before_)) cores_.push_back(core);
  }
}

CoreRotation::~CoreRotation() {
  if (next_ > 0) ::sched_setaffinity(0, sizeof before_, &before_);
}

// A core that is taken from the process meanwhile is an error of the call, which leaves the thread
// where it is.
void CoreRotation::Work(std::int64_t amount) {
  left_ -= amount;
  if (cores_.empty() || left_ >= 0) return;
  left_ = turn_ - amount;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cores_[next_++ % cores_.size()], &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

}  // namespace frugal
