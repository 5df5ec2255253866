#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>

#include "sdk/memory/allocator.h"

namespace frugal {

struct PoolOptions {
  std::int64_t max_idle_bytes = std::int64_t{256} << 20;
  std::int64_t max_block_bytes = std::int64_t{40} << 20;  // larger blocks are not kept
  std::int64_t max_items_per_bucket = 10;                 // idle blocks of one size class
  // Idle blocks go back to the system when it is short of memory, and on OwnerDestroyed().
  bool use_weak_references = false;
  bool enabled = true;  // off: every block comes from and goes back to the upstream
};

struct PoolStatistics {
  std::int64_t hits = 0;        // requests served by an idle block
  std::int64_t misses = 0;      // requests passed upstream
  std::int64_t evictions = 0;   // idle blocks given back to make room
  std::int64_t live_bytes = 0;  // handed out
  std::int64_t idle_bytes = 0;  // kept for the next request
  std::int64_t reserved_bytes() const { return live_bytes + idle_bytes; }
};

// Keeps freed blocks for the next request of the same size class, within limits. Size classes are
// eighths of a power of two, but at most 64 KB apart, so a block is at most an eighth larger than
// was asked for, and a large one hardly.
// Invariants: idle_bytes <= max_idle_bytes; no bucket holds more than max_items_per_bucket.
// Thread-safe: models of one process may share it.
class TensorPool final : public Allocator {
 public:
  TensorPool(Allocator& upstream, PoolOptions options) : upstream_(upstream), options_(options) {}
  ~TensorPool() override;

  PoolStatistics statistics() const;
  PoolOptions options() const;
  // Takes over new limits at once, giving back what they no longer allow.
  void SetOptions(PoolOptions options);
  // A model that used the pool is gone.
  void OwnerDestroyed();
  void ReleaseIdle();

  static std::int64_t SizeClass(std::int64_t bytes);

 private:
  struct Idle {
    std::int64_t size_class;
    Block block;
  };
  using IdleList = std::list<Idle>;  // oldest first

  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override;
  void DoFree(Block& block) noexcept override;
  bool Keeps(std::int64_t size_class) const;
  void EvictOldest();
  void Trim();
  IdleList::iterator FindIdle(std::int64_t size_class);

  Allocator& upstream_;
  mutable std::mutex mutex_;
  PoolOptions options_;
  PoolStatistics statistics_;
  IdleList idle_;
  std::map<std::int64_t, std::int64_t> idle_items_;  // per size class
  std::map<void*, Block> live_;                      // by address
};

}  // namespace frugal
