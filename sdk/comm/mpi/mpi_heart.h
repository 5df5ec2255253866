#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace frugal {

// Tells the rank behind this one, over MPI, that this one still runs and what it is at, and watches
// the rank before it: so a process that stops is noticed on whatever machine it is. Has a thread of
// its own; without an MPI that allows that (MPI_THREAD_MULTIPLE) it does nothing.
class MpiHeart {
 public:
  // All ranks make theirs together.
  explicit MpiHeart(MPI_Comm ranks);
  MpiHeart(const MpiHeart&) = delete;
  MpiHeart& operator=(const MpiHeart&) = delete;
  ~MpiHeart();

  void Begin(const std::string& activity);
  // Throws LostRankError where the rank before this one has not run for RankWatch::kPatience.
  void Check(const std::string& activity) const;
  // Tells that this rank is done. Nothing is watched any more.
  void End();

 private:
  using Clock = std::chrono::steady_clock;
  struct Beat {
    int ended = 0;
    std::array<char, 160> activity{};
  };
  int Before() const { return (rank_ + size_ - 1) % size_; }
  int Behind() const { return (rank_ + 1) % size_; }
  void Run(const std::stop_token& stop);
  void Send(bool ended);
  void Receive();

  MPI_Comm ranks_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  mutable std::mutex mutex_;  // of what follows
  Beat own_, heard_;
  Clock::duration still_{};  // how long nothing was heard while this process ran
  Beat sent_;                // on its way
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::jthread thread_;
};

}  // namespace frugal
