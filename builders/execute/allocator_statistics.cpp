#include "builders/execute/allocator_statistics.h"

#include <algorithm>

namespace frugal {

std::vector<std::pair<std::string_view, std::int64_t>> NamedValues(const AllocatorStatistics& s) {
  return {{"num_allocs", s.num_allocs},
          {"bytes_in_use", s.bytes_in_use},
          {"peak_bytes_in_use", s.peak_bytes_in_use},
          {"largest_alloc_size", s.largest_alloc_size},
          {"bytes_limit", s.bytes_limit},
          {"bytes_reserved", s.bytes_reserved},
          {"peak_bytes_reserved", s.peak_bytes_reserved},
          {"largest_free_block_bytes", s.largest_free_block_bytes},
          {"pool_bytes", s.pool_bytes},
          {"peak_pool_bytes", s.peak_pool_bytes},
          {"pool_hits", s.pool_hits},
          {"pool_misses", s.pool_misses},
          {"pool_evictions", s.pool_evictions}};
}

void AddLedger(const MemoryLedger& ledger, AllocatorStatistics& statistics) {
  statistics.num_allocs = ledger.allocation_count();
  statistics.bytes_in_use = ledger.live_total();
  statistics.peak_bytes_in_use = ledger.peak_total();
  statistics.largest_alloc_size = ledger.largest_allocation();
  statistics.bytes_limit = ledger.limit().bytes;
}

void AddPool(const PoolStatistics& pool, AllocatorStatistics& statistics) {
  statistics.pool_bytes += pool.reserved_bytes();
  statistics.peak_pool_bytes += pool.peak_reserved_bytes;
  statistics.pool_hits += pool.hits;
  statistics.pool_misses += pool.misses;
  statistics.pool_evictions += pool.evictions;
  statistics.largest_free_block_bytes =
      std::max(statistics.largest_free_block_bytes, pool.largest_idle_bytes);
}

}  // namespace frugal
