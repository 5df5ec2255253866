#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
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
  std::int64_t peak_reserved_bytes = 0;
  std::int64_t largest_idle_bytes = 0;  // the largest block that is kept
  std::int64_t reserved_bytes() const { return live_bytes + idle_bytes; }
};

// Keeps freed blocks for the next request of the same size class, within limits. Size classes are
// eighths of a power of two, but at most 64 KB apart, so a block is at most an eighth larger than
// was asked for, and a large one hardly.
// Several may share it, each with limits of its own (PoolTenant): these hold for the blocks that it
// gave back, whoever takes them next, and change nothing for the others. All together keep no more
// than the largest limit of those whose blocks are idle.
// Invariants for each: its idle bytes <= max_idle_bytes; no bucket holds more than
// max_items_per_bucket of its blocks. Threads: any may use it at any time, as models of one process
// do.
class TensorPool final : public Allocator {
 public:
  TensorPool(Allocator& upstream, PoolOptions options);
  ~TensorPool() override;

  PoolStatistics statistics() const;
  PoolOptions options() const;
  // Takes over new limits at once, giving back what they no longer allow; tenants keep theirs.
  void SetOptions(PoolOptions options);
  // The one that used the pool without being a tenant is gone.
  void OwnerDestroyed();
  void ReleaseIdle();

  static std::int64_t SizeClass(std::int64_t bytes);

 private:
  friend class PoolTenant;
  // One that takes and gives back blocks: its limits, and what it gave back that is still idle.
  struct Party {
    PoolOptions options;
    std::int64_t idle_bytes = 0;
    std::map<std::int64_t, std::int64_t> idle_items{};  // per size class
  };
  using PartyPtr = std::shared_ptr<Party>;
  struct Idle {
    std::int64_t size_class;
    Block block;
    PartyPtr from;
  };
  using IdleList = std::list<Idle>;  // oldest first

  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override {
    return AllocateFor(*own_, *this, bytes, tag);
  }
  void DoFree(Block& block) noexcept override { FreeFrom(own_, block); }
  // `owner` is who will be asked to free the block.
  Block AllocateFor(const Party& party, Allocator& owner, std::int64_t bytes, MemoryTag tag);
  void FreeFrom(const PartyPtr& party, Block& block) noexcept;
  void Leave(const PartyPtr& party);
  static bool Keeps(const Party& party, std::int64_t size_class);
  void Evict(IdleList::iterator idle);
  void EvictOldestOf(const PartyPtr& party);
  void KeepWithinLargestLimit();
  void Trim(const PartyPtr& party);
  IdleList::iterator FindIdle(std::int64_t size_class);

  Allocator& upstream_;
  mutable std::mutex mutex_;
  PartyPtr own_;  // those who come without being tenants
  PoolStatistics statistics_;
  IdleList idle_;
  std::map<void*, Block> live_;  // by address
};

// A way into a pool that others use too, with limits of its own. It must outlive its blocks; the
// pool must outlive it. What it gave back stays idle in the pool when it is gone, unless it uses
// weak references.
class PoolTenant final : public Allocator {
 public:
  PoolTenant(TensorPool& pool, const PoolOptions& options);
  ~PoolTenant() override { pool_.Leave(party_); }

  TensorPool& pool() const { return pool_; }

 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override {
    return pool_.AllocateFor(*party_, *this, bytes, tag);
  }
  void DoFree(Block& block) noexcept override { pool_.FreeFrom(party_, block); }

  TensorPool& pool_;
  TensorPool::PartyPtr party_;
};

}  // namespace frugal
