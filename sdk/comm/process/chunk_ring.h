#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace frugal {

// A queue of chunks in memory that two processes share: one of them writes, the other one reads,
// and neither ever waits for a lock. Memory of zeros is an empty queue.
class ChunkRing {
 public:
  static std::int64_t BytesFor(std::int64_t chunks);

  ChunkRing() = default;
  ChunkRing(std::byte* memory, std::int64_t chunks);

  // For the writer: returns memory of the next chunk, or null where the queue is full.
  std::byte* TryReserve();
  void Commit(std::int64_t bytes);
  // For the reader: returns the oldest chunk, which is empty where there is none.
  std::span<const std::byte> TryFront() const;
  void Pop();

 private:
  // Each counter is on a cache line of its own.
  struct Head {
    alignas(64) std::atomic<std::uint64_t> written;
    alignas(64) std::atomic<std::uint64_t> read;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  std::int64_t& SizeOf(std::uint64_t chunk) const;
  std::byte* MemoryOf(std::uint64_t chunk) const;

  Head* head_ = nullptr;
  std::int64_t* sizes_ = nullptr;
  std::byte* chunks_ = nullptr;
  std::uint64_t count_ = 0;
};

}  // namespace frugal
