#include "sdk/comm/process/summation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sdk/comm/ordered_sum.h"

namespace frugal {

Summation::Summation(MessageLinks& links, std::vector<int> world_ranks, int rank,
                     const ChunkHeader& header, const CommBuffer& buffer, const SumTargets& targets)
    : links_(links),
      world_ranks_(std::move(world_ranks)),
      rank_(rank),
      header_(header),
      buffer_(buffer),
      targets_(targets),
      waits_for_(World(rank)) {
  const std::int64_t most = MessageLinks::kPayloadBytes / SizeOf(buffer.dtype);
  const std::int64_t longest = targets.root ? buffer.count : PartOf(buffer.count, size(), 0).count;
  pieces_ = (longest + most - 1) / most;
}

bool Summation::Involves(int rank) const {
  return std::ranges::find(world_ranks_, rank) != world_ranks_.end();
}

CommPart Summation::PieceOf(int rank, std::int64_t index) const {
  CommPart part;
  if (!targets_.root) {
    part = PartOf(buffer_.count, size(), rank);
  } else if (rank == *targets_.root) {
    part = {.begin = 0, .count = buffer_.count};
  }
  const std::int64_t most = MessageLinks::kPayloadBytes / SizeOf(buffer_.dtype);
  const std::int64_t begin = std::min(index * most, part.count);
  return {.begin = part.begin + begin, .count = std::min(most, part.count - begin)};
}

std::byte* Summation::At(std::int64_t element) const {
  return static_cast<std::byte*>(buffer_.data) + element * SizeOf(buffer_.dtype);
}

// Round i contributes piece i, sums piece i - 1 and takes the sums of piece i - 2.
bool Summation::Advance() {
  while (round_ < pieces_ + (targets_.for_all ? 2 : 1)) {
    if (!AdvancePhase()) return false;
    other_ = 1;
    if (phase_ == Phase::kContribute) {
      phase_ = Phase::kSum;
    } else if (phase_ == Phase::kSum) {
      phase_ = Phase::kTake;
    } else {
      phase_ = Phase::kContribute;
      ++round_;
    }
  }
  return true;
}

bool Summation::AdvancePhase() {
  if (phase_ == Phase::kSum) return round_ < 1 || Sum();
  if (phase_ == Phase::kTake && (!targets_.for_all || round_ < 2)) return true;
  for (; other_ < size(); ++other_) {
    const int other = Other(other_);
    if (!(phase_ == Phase::kContribute ? Contribute(other) : Take(other))) {
      waits_for_ = World(other);
      return false;
    }
  }
  return true;
}

bool Summation::Contribute(int to) {
  const CommPart piece = PieceOf(to, round_);
  if (piece.count <= 0) return true;
  std::byte* chunk = links_.TryReserve(World(to), header_);
  if (chunk == nullptr) return false;
  const std::int64_t bytes = piece.count * SizeOf(buffer_.dtype);
  std::memcpy(chunk, At(piece.begin), static_cast<std::size_t>(bytes));
  links_.Send(World(to), bytes);
  return true;
}

// Sums pieces where they arrive, and writes the sums to the buffer and, for all, to where they
// leave.
bool Summation::Sum() {
  const CommPart piece = PieceOf(rank_, round_ - 1);
  if (piece.count <= 0) return true;
  std::vector<const void*> sources(static_cast<std::size_t>(size()));
  std::vector<void*> targets = {At(piece.begin)};
  sources[static_cast<std::size_t>(rank_)] = At(piece.begin);
  for (int number = 1; number < size(); ++number) {
    const int other = Other(number);
    waits_for_ = World(other);
    const std::span<const std::byte> arrived = links_.TryFront(World(other), header_);
    if (arrived.empty()) return false;
    sources[static_cast<std::size_t>(other)] = arrived.data();
    if (!targets_.for_all) continue;
    targets.push_back(links_.TryReserve(World(other), header_));
    if (targets.back() == nullptr) return false;
  }
  SumInOrder(sources, targets, 0, piece.count, buffer_.dtype);
  for (int number = 1; number < size(); ++number) {
    const int other = World(Other(number));
    links_.Pop(other);
    if (targets_.for_all) links_.Send(other, piece.count * SizeOf(buffer_.dtype));
  }
  return true;
}

bool Summation::Take(int from) {
  const CommPart piece = PieceOf(from, round_ - 2);
  if (piece.count <= 0) return true;
  const std::span<const std::byte> payload = links_.TryFront(World(from), header_);
  if (payload.empty()) return false;
  std::memcpy(At(piece.begin), payload.data(), payload.size());
  links_.Pop(World(from));
  return true;
}

}  // namespace frugal
