#include "sdk/comm/process/chunk_ring.h"

#include "sdk/comm/process/chunk_transport.h"

namespace frugal {
namespace {

constexpr std::int64_t kLine = 64;

std::int64_t WholeLines(std::int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

std::int64_t SizesBytes(std::int64_t chunks) {
  return WholeLines(chunks * static_cast<std::int64_t>(sizeof(std::int64_t)));
}

}  // namespace

std::int64_t ChunkRing::BytesFor(std::int64_t chunks) {
  return static_cast<std::int64_t>(sizeof(Head)) + SizesBytes(chunks) +
         chunks * ChunkTransport::kChunkBytes;
}

ChunkRing::ChunkRing(std::byte* memory, std::int64_t chunks)
    : head_(reinterpret_cast<Head*>(memory)),
      sizes_(reinterpret_cast<std::int64_t*>(memory + sizeof(Head))),
      chunks_(memory + sizeof(Head) + SizesBytes(chunks)),
      count_(static_cast<std::uint64_t>(chunks)) {}

std::int64_t& ChunkRing::SizeOf(std::uint64_t chunk) const { return sizes_[chunk % count_]; }

std::byte* ChunkRing::MemoryOf(std::uint64_t chunk) const {
  return chunks_ + static_cast<std::int64_t>(chunk % count_) * ChunkTransport::kChunkBytes;
}

std::byte* ChunkRing::TryReserve() {
  const std::uint64_t next = head_->written.load(std::memory_order_relaxed);
  if (next - head_->read.load(std::memory_order_acquire) == count_) return nullptr;
  return MemoryOf(next);
}

void ChunkRing::Commit(std::int64_t bytes) {
  const std::uint64_t next = head_->written.load(std::memory_order_relaxed);
  SizeOf(next) = bytes;
  head_->written.store(next + 1, std::memory_order_release);
}

std::span<const std::byte> ChunkRing::TryFront() const {
  const std::uint64_t oldest = head_->read.load(std::memory_order_relaxed);
  if (oldest == head_->written.load(std::memory_order_acquire)) return {};
  return {MemoryOf(oldest), static_cast<std::size_t>(SizeOf(oldest))};
}

void ChunkRing::Pop() {
  head_->read.store(head_->read.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace frugal
