#include "sdk/memory/tensor_pool.h"

#include <algorithm>
#include <bit>

#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

// Short of memory: less than a tenth of the limit is left.
bool SystemIsShort() {
  const SystemMemory memory = ReadSystemMemory();
  return memory.available_bytes.value_or(0) < memory.LimitBytes() / 10;
}

}  // namespace

TensorPool::TensorPool(Allocator& upstream, PoolOptions options)
    : upstream_(upstream), own_(std::make_shared<Party>(Party{options})) {}

TensorPool::~TensorPool() = default;

constexpr std::int64_t kLargestStep = std::int64_t{64} << 10;

std::int64_t TensorPool::SizeClass(std::int64_t bytes) {
  if (bytes <= 8 * kMemoryAlignment) return bytes;
  const auto magnitude = std::bit_floor(static_cast<std::uint64_t>(bytes));
  // An eighth of a large block is much: 6% of a large model's states were resident for nothing.
  const auto step = std::min(static_cast<std::int64_t>(magnitude / 8), kLargestStep);
  return (bytes + step - 1) / step * step;
}

PoolStatistics TensorPool::statistics() const {
  const std::lock_guard lock(mutex_);
  PoolStatistics statistics = statistics_;
  for (const Idle& idle : idle_) {
    statistics.largest_idle_bytes = std::max(statistics.largest_idle_bytes, idle.size_class);
  }
  return statistics;
}

PoolOptions TensorPool::options() const {
  const std::lock_guard lock(mutex_);
  return own_->options;
}

void TensorPool::SetOptions(PoolOptions options) {
  const std::lock_guard lock(mutex_);
  own_->options = options;
  Trim(own_);
}

void TensorPool::OwnerDestroyed() { Leave(own_); }

void TensorPool::Leave(const PartyPtr& party) {
  const std::lock_guard lock(mutex_);
  if (!party->options.use_weak_references) return;
  while (party->idle_bytes > 0) EvictOldestOf(party);
}

void TensorPool::ReleaseIdle() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) Evict(idle_.begin());
}

bool TensorPool::Keeps(const Party& party, std::int64_t size_class) {
  const PoolOptions& options = party.options;
  if (!options.enabled || size_class > options.max_block_bytes) return false;
  if (size_class > options.max_idle_bytes) return false;
  // A block that was taken while the pool was off has a size that no request would ask for.
  if (SizeClass(size_class) != size_class) return false;
  const auto items = party.idle_items.find(size_class);
  return items == party.idle_items.end() || items->second < options.max_items_per_bucket;
}

void TensorPool::Evict(IdleList::iterator idle) {
  statistics_.idle_bytes -= idle->size_class;
  idle->from->idle_bytes -= idle->size_class;
  --idle->from->idle_items[idle->size_class];
  ++statistics_.evictions;
  idle_.erase(idle);
}

void TensorPool::EvictOldestOf(const PartyPtr& party) {
  Evict(std::ranges::find(idle_, party, &Idle::from));
}

// Many that came and went, each within its own limit, must not fill the memory together.
void TensorPool::KeepWithinLargestLimit() {
  while (!idle_.empty()) {
    std::int64_t largest = 0;
    for (const Idle& idle : idle_) {
      largest = std::max(largest, idle.from->options.max_idle_bytes);
      if (statistics_.idle_bytes <= largest) return;
    }
    Evict(idle_.begin());
  }
}

void TensorPool::Trim(const PartyPtr& party) {
  const PoolOptions& options = party->options;
  const auto is_over = [&](const Idle& idle) {
    return idle.from == party &&
           (!options.enabled || idle.size_class > options.max_block_bytes ||
            party->idle_items[idle.size_class] > options.max_items_per_bucket);
  };
  for (auto at = idle_.begin(); at != idle_.end();) {
    const auto next = std::next(at);
    if (is_over(*at)) Evict(at);
    at = next;
  }
  while (party->idle_bytes > options.max_idle_bytes) EvictOldestOf(party);
}

TensorPool::IdleList::iterator TensorPool::FindIdle(std::int64_t size_class) {
  return std::ranges::find(idle_, size_class, &Idle::size_class);
}

Block TensorPool::AllocateFor(const Party& party, Allocator& owner, std::int64_t bytes,
                              MemoryTag tag) {
  const std::lock_guard lock(mutex_);
  const std::int64_t size_class = party.options.enabled ? SizeClass(bytes) : bytes;
  const auto found = party.options.enabled ? FindIdle(size_class) : idle_.end();
  Block block;
  if (found != idle_.end()) {
    block = std::move(found->block);
    --found->from->idle_items[size_class];
    found->from->idle_bytes -= size_class;
    statistics_.idle_bytes -= size_class;
    idle_.erase(found);
    ++statistics_.hits;
  } else {
    block = upstream_.Allocate(size_class, tag);
    ++statistics_.misses;
  }
  statistics_.live_bytes += block.bytes();
  statistics_.peak_reserved_bytes =
      std::max(statistics_.peak_reserved_bytes, statistics_.reserved_bytes());
  void* data = block.data();
  if (data != nullptr) live_.insert_or_assign(data, std::move(block));
  return Block(&owner, data, bytes, tag, size_class);
}

void TensorPool::FreeFrom(const PartyPtr& party, Block& block) noexcept {
  if (block.data() == nullptr) return;
  const std::lock_guard lock(mutex_);
  auto node = live_.extract(block.data());
  Block inner = std::move(node.mapped());
  statistics_.live_bytes -= inner.bytes();
  const std::int64_t size_class = inner.bytes();
  const PoolOptions& options = party->options;
  if (!Keeps(*party, size_class) || (options.use_weak_references && SystemIsShort())) return;
  while (party->idle_bytes + size_class > options.max_idle_bytes) EvictOldestOf(party);
  statistics_.idle_bytes += size_class;
  party->idle_bytes += size_class;
  ++party->idle_items[size_class];
  idle_.push_back({size_class, std::move(inner), party});
  KeepWithinLargestLimit();
}

PoolTenant::PoolTenant(TensorPool& pool, const PoolOptions& options)
    : pool_(pool), party_(std::make_shared<TensorPool::Party>(TensorPool::Party{options})) {}

}  // namespace frugal
