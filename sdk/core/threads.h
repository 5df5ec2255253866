#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>

// Work on the threads of libgomp, whichever compiler this is: they are those of oneDNN, and so a
// program has one OpenMP runtime, one pool of threads and one number of them.
namespace frugal {

// How many threads a team has at most, at least 1. Every thread has its own number: what it sets
// holds for the teams that it asks for.
void SetMostThreads(int threads);
int MostThreads();

// While it lives, teams that this thread asks for have at most so many threads.
class MostThreadsScope {
 public:
  explicit MostThreadsScope(int threads) : before_(MostThreads()) { SetMostThreads(threads); }
  MostThreadsScope(const MostThreadsScope&) = delete;
  MostThreadsScope& operator=(const MostThreadsScope&) = delete;
  ~MostThreadsScope() { SetMostThreads(before_); }

 private:
  int before_;
};

// These say which thread of a team this one is, and how many they are; outside of a team, 0 and 1.
int ThreadNumber();
int TeamSize();

// task(data) on every thread of a team, of at most `threads` or, with 0, of MostThreads().
void RunTeam(int threads, void (*task)(void* data), void* data);

// body() likewise; an exception that leaves it ends the program.
template <class Body>
void RunTeam(int threads, const Body& body) {
  const auto task = [](void* data) noexcept { (*static_cast<const Body*>(data))(); };
  RunTeam(threads, task, const_cast<void*>(static_cast<const void*>(&body)));
}

// Tasks that threads of a team take as they come free, some in a row.
class SharedTasks {
 public:
  SharedTasks(std::int64_t count, std::int64_t in_a_row) : count_(count), in_a_row_(in_a_row) {}

  // body(task) for each task that falls to the calling thread.
  template <class Body>
  void Work(const Body& body) {
    while (true) {
      const std::int64_t first = next_.fetch_add(in_a_row_, std::memory_order_relaxed);
      if (first >= count_) return;
      const std::int64_t end = std::min(count_, first + in_a_row_);
      for (std::int64_t task = first; task < end; ++task) body(task);
    }
  }

 private:
  std::int64_t count_, in_a_row_;
  std::atomic<std::int64_t> next_ = 0;
};

// Tasks of which each thread of a team has a share, one behind the other, so that what lies in its
// caches from one loop to the next stays there. A thread whose share is done steals from those of
// the others, since two never run equally fast, least of all where both read memory.
class StealingTasks {
 public:
  explicit StealingTasks(std::int64_t count) : count_(count) {}

  // body(task) for each task that falls to the calling thread.
  template <class Body>
  void Work(const Body& body) {
    const std::int64_t shares = std::min<std::int64_t>(TeamSize(), kMostShares);
    const std::int64_t own = ThreadNumber() % shares;
    for (std::int64_t i = 0; i < shares; ++i) Take((own + i) % shares, shares, body);
  }

 private:
  static constexpr std::int64_t kMostShares = 64;
  struct alignas(64) Counter {  // a line of the caches each
    std::atomic<std::int64_t> taken = 0;
  };

  template <class Body>
  void Take(std::int64_t share, std::int64_t shares, const Body& body) {
    const std::int64_t each = count_ / shares, more = count_ % shares;  // the first have one more
    const std::int64_t first = share * each + std::min(share, more);
    const std::int64_t size = each + (share < more ? 1 : 0);
    std::atomic<std::int64_t>& taken = counters_[static_cast<std::size_t>(share)].taken;
    while (taken.load(std::memory_order_relaxed) < size) {
      const std::int64_t task = taken.fetch_add(1, std::memory_order_relaxed);
      if (task < size) body(first + task);
    }
  }

  std::int64_t count_;
  std::array<Counter, kMostShares> counters_;
};

// Carries the first exception out of a team.
class FirstError {
 public:
  template <class Body>
  void Guard(const Body& body) noexcept {
    try {
      body();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void Rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// body(begin, end) for consecutive pieces of `chunk` indices of [0, count), by StealingTasks. A
// single piece runs where it is called, not in a team of one: a team that it asks for would be one
// inside another, whose threads libgomp makes anew each time.
template <class Body>
void ParallelFor(std::int64_t count, std::int64_t chunk, const Body& body) {
  const std::int64_t pieces = (count + chunk - 1) / chunk;
  if (pieces <= 0) return;
  if (pieces == 1) return body(std::int64_t{0}, count);
  FirstError error;
  StealingTasks tasks(pieces);
  RunTeam(0, [&] {
    tasks.Work([&](std::int64_t piece) {
      error.Guard([&] { body(piece * chunk, std::min(count, (piece + 1) * chunk)); });
    });
  });
  error.Rethrow();
}

}  // namespace frugal
