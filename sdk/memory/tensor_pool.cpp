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
  return statistics_;
}

PoolOptions TensorPool::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

void TensorPool::SetOptions(PoolOptions options) {
  const std::lock_guard lock(mutex_);
  options_ = options;
  Trim();
}

void TensorPool::OwnerDestroyed() {
  const std::lock_guard lock(mutex_);
  if (!options_.use_weak_references) return;
  while (!idle_.empty()) EvictOldest();
}

void TensorPool::ReleaseIdle() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) EvictOldest();
}

bool TensorPool::Keeps(std::int64_t size_class) const {
  if (!options_.enabled || size_class > options_.max_block_bytes) return false;
  if (size_class > options_.max_idle_bytes) return false;
  // A block that was taken while the pool was off has a size that no request would ask for.
  if (SizeClass(size_class) != size_class) return false;
  const auto items = idle_items_.find(size_class);
  return items == idle_items_.end() || items->second < options_.max_items_per_bucket;
}

void TensorPool::EvictOldest() {
  const Idle& oldest = idle_.front();
  statistics_.idle_bytes -= oldest.block.bytes();
  --idle_items_[oldest.size_class];
  ++statistics_.evictions;
  idle_.pop_front();
}

void TensorPool::Trim() {
  const auto is_over = [this](const Idle& idle) {
    return !options_.enabled || idle.size_class > options_.max_block_bytes ||
           idle_items_[idle.size_class] > options_.max_items_per_bucket;
  };
  for (auto at = idle_.begin(); at != idle_.end();) {
    const auto next = std::next(at);
    if (is_over(*at)) {
      idle_.splice(idle_.begin(), idle_, at);
      EvictOldest();
    }
    at = next;
  }
  while (statistics_.idle_bytes > options_.max_idle_bytes) EvictOldest();
}

TensorPool::IdleList::iterator TensorPool::FindIdle(std::int64_t size_class) {
  const auto items = idle_items_.find(size_class);
  if (items == idle_items_.end() || items->second == 0) return idle_.end();
  return std::ranges::find(idle_, size_class, &Idle::size_class);
}

Block TensorPool::DoAllocate(std::int64_t bytes, MemoryTag tag) {
  const std::lock_guard lock(mutex_);
  const std::int64_t size_class = options_.enabled ? SizeClass(bytes) : bytes;
  Block block;
  if (const auto found = FindIdle(size_class); found != idle_.end()) {
    block = std::move(found->block);
    --idle_items_[size_class];
    statistics_.idle_bytes -= block.bytes();
    idle_.erase(found);
    ++statistics_.hits;
  } else {
    block = upstream_.Allocate(size_class, tag);
    ++statistics_.misses;
  }
  statistics_.live_bytes += block.bytes();
  void* data = block.data();
  if (data != nullptr) live_.insert_or_assign(data, std::move(block));
  return Block(this, data, bytes, tag, size_class);
}

void TensorPool::DoFree(Block& block) noexcept {
  if (block.data() == nullptr) return;
  const std::lock_guard lock(mutex_);
  auto node = live_.extract(block.data());
  Block inner = std::move(node.mapped());
  statistics_.live_bytes -= inner.bytes();
  const std::int64_t size_class = inner.bytes();
  if (!Keeps(size_class) || (options_.use_weak_references && SystemIsShort())) return;
  while (statistics_.idle_bytes + size_class > options_.max_idle_bytes) EvictOldest();
  statistics_.idle_bytes += size_class;
  ++idle_items_[size_class];
  idle_.push_back({size_class, std::move(inner)});
}

}  // namespace frugal
