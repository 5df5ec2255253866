#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "sdk/comm/process/chunk_ring.h"
#include "sdk/comm/process/chunk_transport.h"
#include "sdk/comm/process/rank_status.h"
#include "sdk/comm/process/shared_memory.h"

namespace frugal {

// Says how many chunks may be on their way from one rank to another.
using ChunksBetween = std::function<std::int64_t(int from, int to)>;

// Carries chunks between processes of one machine through memory that they share.
class SharedTransport final : public ChunkTransport {
 public:
  // Returns the size of the memory, which all ranks must agree on.
  static std::int64_t BytesFor(int size, const ChunksBetween& chunks);

  // `names` are the numbers of this machine's ranks among all, and `rank` is this one's place.
  SharedTransport(SharedMemory memory, int rank, const std::vector<int>& names,
                  const ChunksBetween& chunks);
  ~SharedTransport() override;

  std::byte* TryReserve(int to) override { return To(to).TryReserve(); }
  void Commit(int to, std::int64_t bytes) override;
  std::span<const std::byte> TryFront(int from) override { return From(from).TryFront(); }
  void Pop(int from) override;

  std::uint32_t Ticket() override;
  void Rest(std::uint32_t ticket) override;
  void CheckOthers(int waits_for, const std::string& activity) override;
  void End() override { own().state.store(RankStatus::kEnded, std::memory_order_release); }
  void Fail(const std::string& message) override;
  void Begin(const std::string& activity) override { WriteText(activity, own().activity); }

 private:
  RankStatus& own() { return ranks_[rank()]; }
  ChunkRing& To(int to) { return sent_[static_cast<std::size_t>(to)]; }
  ChunkRing& From(int from) { return received_[static_cast<std::size_t>(from)]; }
  void Ring(int other);

  SharedMemory memory_;
  RankStatus* ranks_;
  std::vector<ChunkRing> sent_, received_;  // by the other rank
  RankWatch watch_;
  std::jthread heart_;
};

}  // namespace frugal
