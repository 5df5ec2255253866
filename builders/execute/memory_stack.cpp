#include "builders/execute/memory_stack.h"

#include <algorithm>

#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

// The heap below the shared pool; it lives as long as the process.
HeapAllocator& SharedHeap() {
  static HeapAllocator heap;
  return heap;
}

MemoryLimit LimitOf(const TrainingMemoryConfig& config, MemoryStack::Warn warn) {
  MemoryLimit limit;
  limit.warning_fraction = config.memory_warning_threshold;
  limit.warn = std::move(warn);
  if (config.max_memory_per_device_mb) {
    limit.bytes = *config.max_memory_per_device_mb * kBytesPerMegabyte;
    limit.hard = true;
    limit.name = "max_memory_per_device_mb";
    return limit;
  }
  const SystemMemory system = ReadSystemMemory();
  limit.bytes = system.LimitBytes();
  limit.name = NameOf(system.LimitKind());
  return limit;
}

std::unique_ptr<PlannedArena> ArenaOf(const TrainingMemoryConfig& config) {
  if (!config.use_activation_pooling) return nullptr;
  return std::make_unique<PlannedArena>(config.max_pool_memory_mb * kBytesPerMegabyte);
}

}  // namespace

TensorPool& SharedTensorPool() {
  static TensorPool pool(SharedHeap(), PoolOptions());
  return pool;
}

PoolOptions PoolOptionsOf(const TrainingMemoryConfig& config) {
  const TensorPoolOptions options = config.tensor_pool_options.value_or(TensorPoolOptions());
  return {.max_idle_bytes = options.max_pool_size_mb * kBytesPerMegabyte,
          .max_block_bytes = options.max_elements_to_pool * std::int64_t{sizeof(float)},
          .max_items_per_bucket = options.max_items_per_bucket,
          .use_weak_references = options.use_weak_references,
          .enabled = options.enabled};
}

std::unique_ptr<PoolTenant> MemoryStack::ChoosePool(const TrainingMemoryConfig& config) {
  if (!config.use_tensor_pooling) return nullptr;
  const PoolOptions options = PoolOptionsOf(config);
  if (!config.use_shared_tensor_pool) own_pool_ = std::make_unique<TensorPool>(heap_, options);
  return std::make_unique<PoolTenant>(own_pool_ ? *own_pool_ : SharedTensorPool(), options);
}

MemoryStack::MemoryStack(const TrainingMemoryConfig& config, Warn warn)
    : pool_(ChoosePool(config)),
      arena_(ArenaOf(config)),
      tensors_(ledger_, pool_ ? static_cast<Allocator&>(*pool_) : heap_, false),
      step_(ledger_, arena_ ? static_cast<Allocator&>(*arena_) : heap_, true) {
  ledger_.SetLimit(LimitOf(config, std::move(warn)));
}

std::int64_t MemoryStack::system_allocations() const {
  return heap_.allocation_count() + SharedHeap().allocation_count() +
         (arena_ ? arena_->growth_count() : 0);
}

std::optional<PoolStatistics> MemoryStack::pool_statistics() const {
  if (pool_ == nullptr) return std::nullopt;
  return pool_->pool().statistics();
}

// The own pool's blocks are the own heap's; the shared one is reserved for all its tenants
// together.
AllocatorStatistics MemoryStack::Statistics() const {
  AllocatorStatistics statistics;
  AddLedger(ledger_, statistics);
  statistics.bytes_reserved = heap_.live_bytes();
  statistics.peak_bytes_reserved = heap_.peak_live_bytes();
  if (pool_ != nullptr) {
    const PoolStatistics pool = pool_->pool().statistics();
    AddPool(pool, statistics);
    if (own_pool_ == nullptr) {
      statistics.bytes_reserved += pool.reserved_bytes();
      statistics.peak_bytes_reserved += pool.peak_reserved_bytes;
    }
  }
  if (arena_ != nullptr) {
    statistics.bytes_reserved += arena_->capacity_bytes();
    statistics.peak_bytes_reserved += arena_->capacity_bytes();
    statistics.largest_free_block_bytes =
        std::max(statistics.largest_free_block_bytes, arena_->capacity_bytes());
  }
  return statistics;
}

}  // namespace frugal
