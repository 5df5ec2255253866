#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace frugal {

// Threads that stay from one task to the next, so that each keeps the team that it works with.
class WorkerThreads {
 public:
  // Throws CommunicationError where the system gives no more threads.
  explicit WorkerThreads(int count);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads();

  int count() const { return static_cast<int>(threads_.size()); }
  // Runs task(number), which throws nothing, on the first `count` threads; returns when all have
  // ended it.
  void Run(int count, const std::function<void(int number)>& task);

 private:
  void Work(int number);
  void Stop();

  std::mutex mutex_;
  std::condition_variable begins_, ends_;
  const std::function<void(int)>* task_ = nullptr;  // null where the threads are to end
  std::uint64_t tasks_ = 0;
  int wanted_ = 0, running_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace frugal
