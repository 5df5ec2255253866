#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/memory/ledger.h"
#include "sdk/memory/tensor_pool.h"

namespace frugal {

// Holds what a device's memory did so far, under the names of TensorFlow's AllocatorStats. Bytes in
// use are those of live tensors; reserved are those taken from the system for them: the heap's, the
// pool's with its idle blocks, and the address range of the arena.
struct AllocatorStatistics {
  std::int64_t num_allocs = 0;
  std::int64_t bytes_in_use = 0;
  std::int64_t peak_bytes_in_use = 0;
  std::int64_t largest_alloc_size = 0;
  std::int64_t bytes_limit = 0;  // max_memory_per_device_mb, or what the system has
  std::int64_t bytes_reserved = 0;
  std::int64_t peak_bytes_reserved = 0;
  // The largest block that could be taken without asking the system: the arena between steps, or an
  // idle block of the pool.
  std::int64_t largest_free_block_bytes = 0;
  std::int64_t pool_bytes = 0;
  std::int64_t peak_pool_bytes = 0;
  std::int64_t pool_hits = 0;
  std::int64_t pool_misses = 0;
  std::int64_t pool_evictions = 0;
};

// The memory of a device as it is now.
struct DeviceMemory {
  std::int64_t device = 0;
  AllocatorStatistics allocator;
  std::vector<Holder> live;  // the largest first
};

// All of them with their names, in this order.
std::vector<std::pair<std::string_view, std::int64_t>> NamedValues(
    const AllocatorStatistics& statistics);

// Puts in what a ledger tells; adds what a pool does.
void AddLedger(const MemoryLedger& ledger, AllocatorStatistics& statistics);
void AddPool(const PoolStatistics& pool, AllocatorStatistics& statistics);

}  // namespace frugal
