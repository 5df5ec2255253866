#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace frugal {

// Holds what all rank threads of one run share: one lock for everything that they tell each other,
// what each of them waits for, and whether the run has failed. A wait that can never end, since all
// ranks wait or have ended, fails the run.
class ThreadWorld {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Condition = std::function<bool()>;

  explicit ThreadWorld(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  Lock Acquire() { return Lock(mutex_); }
  // Wakes who waits; to be called, under the lock, after each change that a condition looks at.
  void Changed() { changed_.notify_all(); }

  // Waits until the condition holds. `activity` says in errors what the rank does ("step 3,
  // all-reduce of gradients"). Throws CommunicationError where the run has failed or fails here.
  void Wait(Lock& lock, int rank, const std::string& activity, const Condition& ready);
  // Waits for what running ranks are certain to do, even in a run that has failed, since they still
  // use this rank's memory.
  void WaitForCopies(Lock& lock, const Condition& ready) { changed_.wait(lock, ready); }

  // Says that a rank is done, or that it has failed with an error: then all who wait throw.
  void End(int rank);
  void Fail(int rank, const std::string& message);

 private:
  struct Rank {
    const Condition* waits_for = nullptr;
    std::string activity;
    bool ended = false;
  };
  bool NobodyRuns() const;
  std::string Activities() const;
  void ThrowIfFailed(int rank, const std::string& activity) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::string failure_;
};

}  // namespace frugal
