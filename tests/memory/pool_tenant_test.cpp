// Several use one pool, each with limits of its own.
#include <vector>

#include "sdk/core/random.h"
#include "sdk/memory/system_memory.h"
#include "sdk/memory/tensor_pool.h"
#include "tests/catch.h"

namespace frugal {
namespace {

constexpr auto kTenantTag = MemoryTag::kParameter;

void TakeAndGive(Allocator& allocator, std::int64_t bytes, int count) {
  std::vector<Block> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(allocator.Allocate(bytes, kTenantTag));
}

TEST_CASE("a tenant's limits hold for what it gives back, and for nobody else", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {});
  PoolTenant wide(pool, {.max_idle_bytes = 100 * 1024});
  TakeAndGive(wide, 1024, 8);
  CHECK(pool.statistics().idle_bytes == 8 * 1024);
  {
    PoolTenant narrow(pool, {.max_idle_bytes = 4096, .max_items_per_bucket = 1});
    CHECK(pool.statistics().idle_bytes == 8 * 1024);  // coming takes nothing away
    TakeAndGive(narrow, 2048, 3);
    CHECK(pool.statistics().idle_bytes == 8 * 1024 + 2048);
    TakeAndGive(narrow, 8192, 1);
    CHECK(pool.statistics().idle_bytes == 8 * 1024 + 2048);
    const PoolTenant off(pool, {.enabled = false});
  }
  CHECK(pool.statistics().idle_bytes == 8 * 1024 + 2048);  // nor does going
  TakeAndGive(wide, 2048, 1);
  CHECK(pool.statistics().hits == 1);  // one's blocks serve another
}

TEST_CASE("weak references give back one's own blocks alone", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {});
  PoolTenant strong(pool, {});
  TakeAndGive(strong, 1024, 2);
  {
    PoolTenant weak(pool, {.use_weak_references = true});
    TakeAndGive(weak, 2048, 2);
  }
  CHECK(pool.statistics().idle_bytes == 2 * 1024);
}

TEST_CASE("a tenant that is off neither takes from the pool nor leaves anything",
          "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {});
  TakeAndGive(pool, 1024, 1);
  PoolTenant off(pool, {.enabled = false});
  TakeAndGive(off, 1024, 1);
  CHECK(pool.statistics().hits == 0);
  CHECK(pool.statistics().idle_bytes == 1024);
}

TEST_CASE("tenants that come and go keep no more than the largest limit", "[memory][pool]") {
  HeapAllocator heap;
  TensorPool pool(heap, {});
  constexpr std::int64_t kLimit = 16 * 1024;
  for (std::int64_t i = 0; i < 20; ++i) {
    PoolTenant tenant(pool, {.max_idle_bytes = kLimit - i});
    TakeAndGive(tenant, 4096 + 512 * (i % 5), 3);
    CHECK(pool.statistics().idle_bytes <= kLimit);
    CHECK(pool.statistics().reserved_bytes() == heap.live_bytes());
  }
  CHECK(pool.statistics().idle_bytes > kLimit / 2);
}

TEST_CASE("random traffic of two tenants keeps each within its limits",
          "[memory][pool][property]") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::uint64_t key = StreamKey(seed, "tenants");
    std::uint64_t next = 0;
    const auto draw = [&](std::uint64_t bound) {
      return static_cast<std::uint64_t>(UniformAt(key, next++) * static_cast<double>(bound));
    };
    HeapAllocator heap;
    TensorPool pool(heap, {});
    PoolTenant one(pool, {.max_idle_bytes = 20000, .max_items_per_bucket = 3});
    PoolTenant two(pool, {.max_idle_bytes = 3000, .max_items_per_bucket = 1});
    std::vector<Block> blocks;
    for (int step = 0; step < 1000; ++step) {
      if (draw(2) == 0 || blocks.empty()) {
        Allocator& tenant = draw(2) == 0 ? static_cast<Allocator&>(one) : two;
        blocks.push_back(tenant.Allocate(static_cast<std::int64_t>(draw(6000)), kTenantTag));
      } else {
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(draw(blocks.size())));
      }
      REQUIRE(pool.statistics().idle_bytes <= 20000);
      REQUIRE(pool.statistics().reserved_bytes() == heap.live_bytes());
    }
  }
}

}  // namespace
}  // namespace frugal
