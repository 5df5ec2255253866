#include "sdk/comm/thread_world.h"

#include <algorithm>

#include "sdk/comm/communication_error.h"

namespace frugal {

void ThreadWorld::Wait(Lock& lock, int rank, const std::string& activity, const Condition& ready) {
  Rank& self = ranks_[static_cast<std::size_t>(rank)];
  self.activity = activity;
  self.waits_for = &ready;
  while (!ready()) {
    if (failure_.empty() && NobodyRuns()) {
      failure_ = "no rank can go on: " + Activities();
      Changed();
    }
    if (!failure_.empty()) break;
    changed_.wait(lock);
  }
  self.waits_for = nullptr;
  if (!ready()) ThrowIfFailed(rank, activity);
}

bool ThreadWorld::NobodyRuns() const {
  return std::ranges::all_of(ranks_, [](const Rank& rank) {
    return rank.ended || (rank.waits_for != nullptr && !(*rank.waits_for)());
  });
}

std::string ThreadWorld::Activities() const {
  std::string text;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    text += (i == 0 ? "rank " : ", rank ") + std::to_string(i) +
            (ranks_[i].ended ? " has ended" : " waits in " + ranks_[i].activity);
  }
  return text;
}

void ThreadWorld::ThrowIfFailed(int rank, const std::string& activity) const {
  if (failure_.empty()) return;
  throw CommunicationError({.where = "rank " + std::to_string(rank) + ", " + activity,
                            .required = "all ranks take part",
                            .given = failure_,
                            .advice = {}});
}

void ThreadWorld::End(int rank) {
  const Lock lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)].ended = true;
  Changed();
}

void ThreadWorld::Fail(int rank, const std::string& message) {
  const Lock lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)].ended = true;
  if (failure_.empty()) failure_ = "rank " + std::to_string(rank) + " failed: " + message;
  Changed();
}

}  // namespace frugal
