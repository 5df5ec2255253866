#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace frugal {

// Carries chunks of bytes between processes, those from one to another in order. One thread of a
// process uses it. Memory of a chunk is the transport's own, so that bytes can be written where
// they leave and read where they arrive.
class ChunkTransport {
 public:
  // A chunk holds so many bytes at most.
  static constexpr std::int64_t kChunkBytes = std::int64_t{64} << 10;

  ChunkTransport(int rank, int size) : rank_(rank), size_(size) {}
  ChunkTransport(const ChunkTransport&) = delete;
  ChunkTransport& operator=(const ChunkTransport&) = delete;
  virtual ~ChunkTransport() = default;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Returns memory of the next chunk to a rank, or null while there is no room for one.
  virtual std::byte* TryReserve(int to) = 0;
  // Sends the first `bytes` of what was reserved.
  virtual void Commit(int to, std::int64_t bytes) = 0;
  // Returns the oldest chunk from a rank; it is empty while none has arrived.
  virtual std::span<const std::byte> TryFront(int from) = 0;
  virtual void Pop(int from) = 0;

  // Rest returns when something may have come or gone since Ticket, or after some milliseconds.
  virtual std::uint32_t Ticket() = 0;
  virtual void Rest(std::uint32_t ticket) = 0;

  // Says what this rank begins, for the errors of others that wait for it.
  virtual void Begin(const std::string& activity) = 0;
  // Throws CommunicationError where it makes no sense to wait for a rank (-1: for any) any more:
  // one has failed, is gone or stands still, or that rank has ended.
  virtual void CheckOthers(int waits_for, const std::string& activity) = 0;
  // Tells all others that this rank is done, or why it failed.
  virtual void End() = 0;
  virtual void Fail(const std::string& message) = 0;

 private:
  int rank_, size_;
};

}  // namespace frugal
