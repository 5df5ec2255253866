#include "sdk/memory/tensor_pool.h"

#include <map>
#include <vector>

#include "sdk/core/random.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"

namespace frugal {
namespace {

constexpr auto kPoolTag = MemoryTag::kParameter;

TEST_CASE("size classes waste at most an eighth", "[memory][pool]") {
  for (std::int64_t bytes = 64; bytes < 100000; bytes += 64) {
    const std::int64_t size_class = TensorPool::SizeClass(bytes);
    REQUIRE(size_class >= bytes);
    REQUIRE(size_class - bytes <= bytes / 8);
    REQUIRE(size_class % kMemoryAlignment == 0);
    REQUIRE(TensorPool::SizeClass(size_class) == size_class);
  }
  CHECK(TensorPool::SizeClass(0) == 0);
}

TEST_CASE("a freed block serves the next request of its class", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {});
  const void* first = pool.Allocate(10000, kPoolTag).data();
  const Block again = pool.Allocate(10100, MemoryTag::kGradient);  // the same class
  CHECK(again.data() == first);
  CHECK(again.bytes() == RoundUpToAlignment(10100));
  CHECK(again.tag() == MemoryTag::kGradient);
  const Block other = pool.Allocate(20000, kPoolTag);
  const PoolStatistics statistics = pool.statistics();
  CHECK(statistics.hits == 1);
  CHECK(statistics.misses == 2);
  CHECK(statistics.evictions == 0);
  CHECK(statistics.idle_bytes == 0);
  CHECK(statistics.live_bytes == heap.live_bytes());
  CHECK(heap.allocation_count() == 2);
}

TEST_CASE("the pool keeps no more than its limit, and lets the oldest go", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {.max_idle_bytes = 3 * 1024});
  std::vector<Block> blocks;
  // Four classes of at most 1 KB: 832, 896, 960 and 1024.
  for (const std::int64_t bytes : {832, 896, 960, 1024})
    blocks.push_back(pool.Allocate(bytes, kPoolTag));
  for (Block& block : blocks) block = Block();
  CHECK(pool.statistics().idle_bytes == 896 + 960 + 1024);
  CHECK(pool.statistics().evictions == 1);
  CHECK(heap.live_bytes() == 896 + 960 + 1024);
  pool.Allocate(832, kPoolTag);  // was given back: a miss; freed, it pushes out 896
  CHECK(pool.statistics().hits == 0);
  pool.Allocate(896, kPoolTag);  // a miss again
  CHECK(pool.statistics().hits == 0);
  CHECK(pool.statistics().idle_bytes <= 3 * 1024);
}

TEST_CASE("blocks above the largest size and above the limit are not kept", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {.max_idle_bytes = 1 << 20, .max_block_bytes = 4096});
  pool.Allocate(8192, kPoolTag);
  CHECK(pool.statistics().idle_bytes == 0);
  pool.Allocate(4096, kPoolTag);
  CHECK(pool.statistics().idle_bytes == 4096);
  pool.SetOptions({.max_idle_bytes = 1000});
  CHECK(pool.statistics().idle_bytes == 0);
  pool.Allocate(4096, kPoolTag);
  CHECK(heap.live_bytes() == 0);
}

TEST_CASE("a bucket holds so many items and no more", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {.max_items_per_bucket = 2});
  std::vector<Block> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.Allocate(1000, kPoolTag));
  blocks.clear();
  CHECK(pool.statistics().idle_bytes == 2 * 1024);
  { const Block other = pool.Allocate(2048, kPoolTag); }
  CHECK(pool.statistics().idle_bytes == 2 * 1024 + 2048);  // a bucket of its own
  pool.SetOptions({.max_items_per_bucket = 1});
  CHECK(pool.statistics().idle_bytes == 1024 + 2048);
}

TEST_CASE("switched off, everything passes through", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {.enabled = false});
  pool.Allocate(1088, kPoolTag);
  pool.Allocate(1088, kPoolTag);
  CHECK(pool.statistics().hits == 0);
  CHECK(pool.statistics().misses == 2);
  CHECK(pool.statistics().idle_bytes == 0);
  CHECK(heap.live_bytes() == 0);
  const Block exact = pool.Allocate(1088, kPoolTag);
  CHECK(heap.live_bytes() == 1088);  // not rounded to a class
}

TEST_CASE("switching off gives everything idle back at once", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {});
  const Block live = pool.Allocate(5000, kPoolTag);
  pool.Allocate(3000, kPoolTag);
  CHECK(pool.statistics().idle_bytes == 3072);
  pool.SetOptions({.enabled = false});
  CHECK(pool.statistics().idle_bytes == 0);
  CHECK(pool.statistics().live_bytes == heap.live_bytes());
}

TEST_CASE("weak references are dropped with their owner, strong ones are not", "[memory][pool]") {
  for (const bool weak : {false, true}) {
    HeapAllocator heap;
    TensorPool pool(heap, {.use_weak_references = weak});
    pool.Allocate(1000, kPoolTag);
    const std::int64_t idle = pool.statistics().idle_bytes;
    pool.OwnerDestroyed();
    CHECK(pool.statistics().idle_bytes == (weak ? 0 : idle));
    if (!weak) CHECK(idle == 1024);
    pool.ReleaseIdle();
    CHECK(heap.live_bytes() == 0);
  }
}

TEST_CASE("requests of no bytes pass through the pool", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {});
  { const Block none = pool.Allocate(0, kPoolTag); }
  CHECK(pool.statistics().idle_bytes == 0);
  CHECK(pool.statistics().live_bytes == 0);
}

// Random requests, frees and changes of options; after each the invariants hold.
class Traffic {
 public:
  explicit Traffic(std::uint64_t key) : key_(key) {}

  void Step() {
    const std::uint64_t action = Draw(20);
    if (action < 9) {
      blocks_.push_back(pool_.Allocate(static_cast<std::int64_t>(Draw(6000)), kPoolTag));
    } else if (action < 18 && !blocks_.empty()) {
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(Draw(blocks_.size())));
    } else if (action == 18) {
      options_ = {.max_idle_bytes = static_cast<std::int64_t>(Draw(40000)),
                  .max_block_bytes = static_cast<std::int64_t>(Draw(8000)),
                  .max_items_per_bucket = static_cast<std::int64_t>(Draw(4)),
                  .enabled = Draw(5) > 0};
      pool_.SetOptions(options_);
    }
    Check();
  }

 private:
  std::uint64_t Draw(std::uint64_t bound) {
    return static_cast<std::uint64_t>(UniformAt(key_, next_++) * static_cast<double>(bound));
  }

  void Check() {
    const PoolStatistics statistics = pool_.statistics();
    REQUIRE(statistics.idle_bytes >= 0);
    REQUIRE(statistics.idle_bytes <= options_.max_idle_bytes);
    REQUIRE((options_.enabled || statistics.idle_bytes == 0));
    REQUIRE(statistics.reserved_bytes() == heap_.live_bytes());
    std::int64_t wanted = 0;
    std::map<void*, std::int64_t> places;
    for (const Block& block : blocks_) {
      wanted += block.bytes();
      if (block.bytes() > 0) REQUIRE(places.emplace(block.data(), block.bytes()).second);
    }
    REQUIRE(statistics.live_bytes >= wanted);
    REQUIRE(statistics.live_bytes <= wanted + wanted / 8);
    const char* end = nullptr;  // no two live blocks overlap
    for (const auto& [place, bytes] : places) {
      REQUIRE(static_cast<char*>(place) >= end);
      end = static_cast<char*>(place) + bytes;
    }
  }

  std::uint64_t key_;
  std::uint64_t next_ = 0;
  HeapAllocator heap_;
  PoolOptions options_;
  TensorPool pool_{heap_, {}};
  std::vector<Block> blocks_;
};

TEST_CASE("the pool's invariants hold under random traffic", "[memory][pool][property]") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Traffic traffic(StreamKey(seed, "traffic"));
    for (int step = 0; step < 1000; ++step) traffic.Step();
  }
}

}  // namespace
}  // namespace frugal
