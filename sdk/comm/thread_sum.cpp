#include "sdk/comm/thread_sum.h"

#include <algorithm>
#include <utility>

#include "sdk/comm/communication_error.h"
#include "sdk/comm/ordered_sum.h"

namespace frugal {
namespace {

std::string Describe(const CommBuffer& buffer, std::optional<int> root) {
  std::string text = std::to_string(buffer.count) + " " + std::string(NameOf(buffer.dtype));
  return root ? text + " for rank " + std::to_string(*root) : text;
}

}  // namespace

bool ThreadSum::Post(int rank, const CommBuffer& buffer, std::optional<int> root,
                     const std::string& activity) {
  if (root != root_ || buffer.count != like_.count || buffer.dtype != like_.dtype) {
    throw CommunicationError({.where = activity,
                              .required = "all ranks of a group sum buffers of one size",
                              .given = "this one has " + Describe(buffer, root) + ", another one " +
                                       Describe(like_, root_),
                              .advice = "give all ranks one configuration"});
  }
  posted_[static_cast<std::size_t>(rank)] = buffer;
  ++arrived_;
  world_->Changed();
  return all_posted();
}

std::optional<std::size_t> ThreadSum::FreePart(int rank) const {
  if (!all_posted() || withdrawn_) return std::nullopt;
  const auto own = static_cast<std::size_t>(rank);
  if (!begun_[own]) return own;
  const auto free = std::ranges::find(begun_, false);
  if (free == begun_.end()) return std::nullopt;
  return static_cast<std::size_t>(free - begun_.begin());
}

void ThreadSum::AddUp(ThreadWorld::Lock& lock, std::size_t part) {
  begun_[part] = true;
  ++working_;
  lock.unlock();
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (const CommBuffer& buffer : posted_) sources.push_back(buffer.data);
  if (root_) {
    targets.push_back(posted_[static_cast<std::size_t>(*root_)].data);
  } else {
    for (const CommBuffer& buffer : posted_) targets.push_back(buffer.data);
  }
  const CommPart own =
      PartOf(like_.count, static_cast<int>(posted_.size()), static_cast<int>(part));
  SumInOrder(sources, targets, own.begin, own.count, like_.dtype);
  lock.lock();
  --working_;
  ++finished_;
  world_->Changed();
}

bool ThreadSum::Progress(int rank) {
  ThreadWorld::Lock lock = world_->Acquire();
  const auto own = static_cast<std::size_t>(rank);
  if (FreePart(rank) == own) AddUp(lock, own);
  return done();
}

void ThreadSum::Wait(int rank, int world_rank, const std::string& activity) {
  ThreadWorld::Lock lock = world_->Acquire();
  while (!done()) {
    world_->Wait(lock, world_rank, activity, [&] { return done() || FreePart(rank).has_value(); });
    if (const auto part = FreePart(rank)) AddUp(lock, *part);
  }
}

void ThreadSum::Withdraw() {
  ThreadWorld::Lock lock = world_->Acquire();
  if (done()) return;
  withdrawn_ = true;
  world_->WaitForCopies(lock, [&] { return working_ == 0; });
}

namespace {

class PendingThreadSum final : public PendingSum {
 public:
  PendingThreadSum(std::shared_ptr<ThreadSum> sum, int rank, int world_rank, std::string activity)
      : sum_(std::move(sum)),
        rank_(rank),
        world_rank_(world_rank),
        activity_(std::move(activity)) {}
  ~PendingThreadSum() override { sum_->Withdraw(); }

  bool Progress() override { return sum_->Progress(rank_); }
  void Wait() override { sum_->Wait(rank_, world_rank_, activity_); }

 private:
  std::shared_ptr<ThreadSum> sum_;
  int rank_, world_rank_;
  std::string activity_;
};

}  // namespace

std::unique_ptr<PendingSum> MakePendingSum(std::shared_ptr<ThreadSum> sum, int rank, int world_rank,
                                           std::string activity) {
  return std::make_unique<PendingThreadSum>(std::move(sum), rank, world_rank, std::move(activity));
}

}  // namespace frugal
