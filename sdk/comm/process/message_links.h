#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/comm/process/chunk_transport.h"
#include "sdk/comm/process/pending_work.h"

namespace frugal {

// Says what a chunk belongs to. Both ends expect the same, so that ranks that come to different
// operations learn of it at once.
struct alignas(64) ChunkHeader {
  std::uint32_t group = 0;
  std::uint32_t operation = 0;  // a CommOperation
  std::int64_t count = 0;       // elements of the whole operation
  std::int32_t dtype = 0;
  std::int32_t root = -1;
  std::array<char, 40> what{};

  bool Agrees(const ChunkHeader& other) const {
    return group == other.group && operation == other.operation && count == other.count &&
           dtype == other.dtype && root == other.root;
  }
};
static_assert(sizeof(ChunkHeader) == 64);

enum class CommOperation : std::uint32_t {
  kAllReduce,
  kSum,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kBarrier,
  kMessage,
  kSplit,
};
std::string_view NameOf(CommOperation operation);

// A message that is sent chunk by chunk as there is room.
struct OutgoingMessage {
  ChunkHeader header;
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t sent = 0;
  bool done = false;
};

// Sends and receives over a transport, for all groups that a process belongs to. What goes from one
// rank to another arrives in its order, of whatever group it is.
class MessageLinks {
 public:
  static constexpr std::int64_t kPayloadBytes =
      ChunkTransport::kChunkBytes - static_cast<std::int64_t>(sizeof(ChunkHeader));

  explicit MessageLinks(std::unique_ptr<ChunkTransport> transport);

  ChunkTransport& transport() { return *transport_; }
  void Begin(const std::string& activity);

  // Queues a message behind those that were queued for the rank before.
  std::shared_ptr<OutgoingMessage> Start(int to, const ChunkHeader& header,
                                         std::span<const std::byte> data);
  void Await(const OutgoingMessage& message, int to);
  // Takes back what is not on its way yet.
  void Retract(const std::shared_ptr<OutgoingMessage>& message, int to);

  // Adds work that goes on whenever this process waits, behind what was added before.
  void Add(std::shared_ptr<PendingWork> work) { pending_.push_back(std::move(work)); }
  // Lets work go on as far as it can without waiting; FinishPending returns when
  // none is left that involves a rank, or any.
  void AdvancePending();
  void FinishPending();
  void FinishPendingWith(int rank);
  void Finish(PendingWork& work);
  bool IsDone(const PendingWork& work) const;
  // Drops work that its owner gives up.
  void Remove(const PendingWork& work);

  // Does what Reserve and Front do without waiting: null and empty where these would wait.
  std::byte* TryReserve(int to, const ChunkHeader& header);
  std::span<const std::byte> TryFront(int from, const ChunkHeader& expected);
  // Waits for room, and returns where the payload of the next chunk to a rank goes; Send sends it.
  std::byte* Reserve(int to, const ChunkHeader& header);
  void Send(int to, std::int64_t payload_bytes);
  // Waits for the next chunk from a rank, which must be of this operation, and returns its payload.
  std::span<const std::byte> Front(int from, const ChunkHeader& expected);
  void Pop(int from) { transport_->Pop(from); }

 private:
  void WaitFor(int other, const std::function<bool()>& ready);
  void WaitFor(const std::function<int()>& other, const std::function<bool()>& ready);
  void PushQueued();
  bool PushQueued(int to);
  void Check(int from, const ChunkHeader& arrived, const ChunkHeader& expected) const;

  std::unique_ptr<ChunkTransport> transport_;
  std::vector<std::deque<std::shared_ptr<OutgoingMessage>>> queued_;  // by the rank they go to
  std::deque<std::shared_ptr<PendingWork>> pending_;
  std::string activity_;
};

}  // namespace frugal
