#include "sdk/comm/worker_threads.h"

#include <string>
#include <system_error>

#include "sdk/comm/communication_error.h"

namespace frugal {

WorkerThreads::WorkerThreads(int count) {
  threads_.reserve(static_cast<std::size_t>(count));
  try {
    for (int number = 0; number < count; ++number) {
      threads_.emplace_back([this, number] { Work(number); });
    }
  } catch (const std::system_error& error) {
    const std::string rank = "rank " + std::to_string(threads_.size());
    Stop();
    throw CommunicationError(
        {.where = rank,
         .required = "each of the " + std::to_string(count) + " ranks gets a thread",
         .given = error.what(),
         .advice = "use fewer devices, or raise the limit of processes (ulimit -u)"});
  }
}

WorkerThreads::~WorkerThreads() { Stop(); }

void WorkerThreads::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    task_ = nullptr;
    wanted_ = static_cast<int>(threads_.capacity());
    ++tasks_;
  }
  begins_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerThreads::Work(int number) {
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begins_.wait(lock, [&] { return tasks_ != done; });
    done = tasks_;
    if (number >= wanted_) continue;
    if (task_ == nullptr) return;
    const auto& task = *task_;
    lock.unlock();
    task(number);
    lock.lock();
    if (--running_ == 0) ends_.notify_one();
  }
}

void WorkerThreads::Run(int count, const std::function<void(int)>& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  wanted_ = running_ = count;
  ++tasks_;
  begins_.notify_all();
  ends_.wait(lock, [&] { return running_ == 0; });
}

}  // namespace frugal
