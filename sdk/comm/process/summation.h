#pragma once

#include <optional>
#include <vector>

#include "sdk/comm/communicator.h"
#include "sdk/comm/process/message_links.h"

namespace frugal {

// Says who gets which sums.
struct SumTargets {
  std::optional<int> root;  // one rank gets all of them; else each those of its part
  bool for_all = false;     // which it hands on to all others
};

// Sums a buffer over the ranks of a group piece by piece, in the order of ranks. Contributions go
// one piece ahead of the sums, and sums are taken one piece later, so that ranks wait for each
// other as little as can be.
class Summation final : public PendingWork {
 public:
  // `world_ranks` are the group's, of which this process is number `rank`. The links, which may
  // hold what is pending to their end, outlive it.
  Summation(MessageLinks& links, std::vector<int> world_ranks, int rank, const ChunkHeader& header,
            const CommBuffer& buffer, const SumTargets& targets);

  bool Advance() override;
  bool Involves(int rank) const override;
  int waits_for() const override { return waits_for_; }

 private:
  enum class Phase { kContribute, kSum, kTake };

  int size() const { return static_cast<int>(world_ranks_.size()); }
  int World(int rank) const { return world_ranks_[static_cast<std::size_t>(rank)]; }
  // The number of the rank that comes `number` places behind this one: every rank begins with the
  // one behind it, so that not all go to the same one first.
  int Other(int number) const { return (rank_ + number) % size(); }
  // Piece `index` of what a rank sums; empty behind the last one.
  CommPart PieceOf(int rank, std::int64_t index) const;
  std::byte* At(std::int64_t element) const;

  bool AdvancePhase();
  bool Contribute(int to);
  bool Sum();
  bool Take(int from);

  MessageLinks& links_;
  std::vector<int> world_ranks_;
  int rank_;
  ChunkHeader header_;
  CommBuffer buffer_;
  SumTargets targets_;
  std::int64_t pieces_ = 0;

  std::int64_t round_ = 0;
  Phase phase_ = Phase::kContribute;
  int other_ = 1;  // the phase goes on with Other(other_)
  int waits_for_;
};

}  // namespace frugal
