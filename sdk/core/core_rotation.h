#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace frugal {

// Moves the thread that made it from core to core, while a team of threads has all of them busy.
// The team's parts are equal, and wait for the slowest: a thread that takes time of one core alone
// costs the team all of that time, and one that takes of each in turn their number of times less.
class CoreRotation {
 public:
  // Does nothing where this thread may run on more cores than there are busy threads: some core is
  // free then, and the system finds it. A turn on a core is so much work, in a unit of the
  // caller's: shorter than the team's parts, and longer than what a move costs, in which what was
  // in the core's cache is fetched again.
  CoreRotation(std::int64_t busy_threads, std::int64_t turn);
  ~CoreRotation();
  CoreRotation(const CoreRotation&) = delete;
  CoreRotation& operator=(const CoreRotation&) = delete;

  // Says that so much is about to be done; moves where this turn is over.
  void Work(std::int64_t amount);

 private:
  cpu_set_t before_;
  std::vector<int> cores_;  // none: it stays where it is
  std::size_t next_ = 0;
  std::int64_t turn_, left_ = 0;
};

}  // namespace frugal
