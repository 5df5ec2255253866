#include "sdk/comm/mpi/mpi_heart.h"

#include <algorithm>
#include <condition_variable>

#include "sdk/comm/communication_error.h"
#include "sdk/comm/process/rank_status.h"

namespace frugal {
namespace {

constexpr int kHeartTag = 2;
constexpr std::chrono::milliseconds kBetweenBeats{500};

}  // namespace

MpiHeart::MpiHeart(MPI_Comm ranks) {
  MPI_Comm_dup(ranks, &ranks_);
  MPI_Comm_rank(ranks_, &rank_);
  MPI_Comm_size(ranks_, &size_);
  int allowed = MPI_THREAD_SINGLE;
  MPI_Query_thread(&allowed);
  if (allowed < MPI_THREAD_MULTIPLE || size_ == 1) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

MpiHeart::~MpiHeart() {
  thread_ = std::jthread();
  if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  MPI_Comm_free(&ranks_);
}

void MpiHeart::Begin(const std::string& activity) {
  const std::scoped_lock lock(mutex_);
  WriteText(activity, own_.activity);
}

void MpiHeart::Run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  Clock::time_point last = Clock::now();
  while (!stop.stop_requested()) {
    Send(false);
    Receive();
    wake.wait_for(lock, stop, kBetweenBeats, [] { return false; });
    const Clock::time_point now = Clock::now();
    const std::scoped_lock own(mutex_);
    // A machine that sleeps is nobody's fault.
    still_ += std::min<Clock::duration>(now - last, 2 * kBetweenBeats);
    last = now;
  }
}

void MpiHeart::Send(bool ended) {
  int done = 0;
  MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  if (done == 0 && !ended) return;
  if (done == 0) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  {
    const std::scoped_lock lock(mutex_);
    sent_ = own_;
  }
  sent_.ended = ended ? 1 : 0;
  MPI_Isend(&sent_, sizeof sent_, MPI_BYTE, Behind(), kHeartTag, ranks_, &request_);
}

void MpiHeart::Receive() {
  while (true) {
    int arrived = 0;
    MPI_Iprobe(Before(), kHeartTag, ranks_, &arrived, MPI_STATUS_IGNORE);
    if (arrived == 0) return;
    Beat beat;
    MPI_Recv(&beat, sizeof beat, MPI_BYTE, Before(), kHeartTag, ranks_, MPI_STATUS_IGNORE);
    const std::scoped_lock lock(mutex_);
    heard_ = beat;
    still_ = {};
  }
}

void MpiHeart::Check(const std::string& activity) const {
  const std::scoped_lock lock(mutex_);
  if (!thread_.joinable() || heard_.ended != 0 || still_ < RankWatch::kPatience) return;
  const std::string last =
      heard_.activity.front() == '\0'
          ? ", before its first operation"
          : std::string("; the last that it began was ") + heard_.activity.data();
  throw LostRankError({.where = "rank " + std::to_string(rank_) + ", " + activity,
                       .required = "all ranks take part",
                       .given = "rank " + std::to_string(Before()) + " has not run for " +
                                std::to_string(RankWatch::kPatience.count()) + " seconds" + last,
                       .advice = {}});
}

void MpiHeart::End() {
  if (!thread_.joinable()) return;
  thread_ = std::jthread();
  Send(true);
  MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

}  // namespace frugal
