#include "sdk/comm/process/rank_status.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "sdk/comm/communication_error.h"

namespace frugal {

RankWatch::RankWatch(RankStatus* ranks, std::vector<int> names)
    : ranks_(ranks), names_(std::move(names)), seen_(names_.size()), last_(Clock::now()) {}

std::string RankWatch::NameOf(int rank) const {
  return "rank " + std::to_string(names_[static_cast<std::size_t>(rank)]);
}

template <class Lost>
void RankWatch::Throw(int rank, const std::string& activity, const std::string& problem) const {
  throw Lost({.where = NameOf(rank) + ", " + activity,
              .required = "all ranks take part",
              .given = problem,
              .advice = {}});
}

namespace {

// "; the last that it began was step 3, all-reduce of gradients"
std::string LastOf(const RankStatus& status) {
  if (status.activity[0] == '\0') return ", before its first operation";
  return std::string("; the last that it began was ") + status.activity.data();
}

}  // namespace

std::string RankWatch::ProblemOf(int other, Clock::duration passed) {
  const RankStatus& status = ranks_[other];
  if (status.state.load(std::memory_order_acquire) == RankStatus::kEnded) return "";
  const std::int32_t process = status.process.load();
  const std::string told = NameOf(other) + " (process " + std::to_string(process) + ")";
  if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) {
    return told + " is gone" + LastOf(status);
  }
  Seen& seen = seen_[static_cast<std::size_t>(other)];
  const std::uint64_t heartbeat = status.heartbeat.load();
  seen.still = heartbeat == seen.heartbeat ? seen.still + passed : Clock::duration::zero();
  seen.heartbeat = heartbeat;
  if (seen.still < kPatience) return "";
  return told + " has not run for " + std::to_string(kPatience.count()) + " seconds" +
         LastOf(status);
}

void RankWatch::Check(int rank, int waits_for, const std::string& activity) {
  const Clock::time_point now = Clock::now();
  const auto passed = std::min<Clock::duration>(now - last_, std::chrono::milliseconds(100));
  last_ = now;
  // A rank may have ended since another one failed: so this is asked first, and told last.
  const bool has_ended = waits_for >= 0 && ranks_[waits_for].state.load() == RankStatus::kEnded;
  for (int other = 0; other < static_cast<int>(seen_.size()); ++other) {
    const RankStatus& status = ranks_[other];
    if (other == rank || status.state.load(std::memory_order_acquire) != RankStatus::kFailed) {
      continue;
    }
    Throw<FailedRankError>(rank, activity, NameOf(other) + " failed: " + status.failure.data());
  }
  for (int other = 0; other < static_cast<int>(seen_.size()); ++other) {
    if (other == rank) continue;
    const std::string problem = ProblemOf(other, passed);
    if (!problem.empty()) Throw<LostRankError>(rank, activity, problem);
  }
  if (has_ended) Throw<LostRankError>(rank, activity, NameOf(waits_for) + " has ended");
}

}  // namespace frugal
