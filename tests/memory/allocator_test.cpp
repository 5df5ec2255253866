#include "sdk/memory/allocator.h"

#include <set>
#include <vector>

#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"

namespace frugal {
namespace {

bool IsAligned(const Block& block) {
  return reinterpret_cast<std::uintptr_t>(block.data()) % kMemoryAlignment == 0;
}

TEST_CASE("requests are rounded up to the alignment", "[memory]") {
  CHECK(RoundUpToAlignment(0) == 0);
  CHECK(RoundUpToAlignment(1) == 64);
  CHECK(RoundUpToAlignment(64) == 64);
  CHECK(RoundUpToAlignment(65) == 128);
}

TEST_CASE("the heap counts what it hands out and takes back", "[memory]") {
  HeapAllocator heap;
  {
    const Block small = heap.Allocate(100, MemoryTag::kWorkspace);
    CHECK(small.bytes() == 128);
    CHECK(small.tag() == MemoryTag::kWorkspace);
    CHECK(IsAligned(small));
    CHECK(heap.live_bytes() == 128);
    const Block large = heap.Allocate(5 << 20, MemoryTag::kActivation);
    CHECK(IsAligned(large));
    CHECK(heap.allocation_count() == 2);
  }
  CHECK(heap.live_bytes() == 0);
  CHECK(heap.allocation_count() == 2);
}

TEST_CASE("no bytes take no memory", "[memory]") {
  HeapAllocator heap;
  const Block none = heap.Allocate(0, MemoryTag::kActivation);
  CHECK(none.bytes() == 0);
  CHECK(static_cast<bool>(none));
  CHECK(heap.allocation_count() == 0);
}

TEST_CASE("more than there is is refused in a sentence", "[memory]") {
  HeapAllocator heap;
  CHECK_THROWS_AS(heap.Allocate(std::int64_t{1} << 60, MemoryTag::kGradient), MemoryError);
  CHECK_THROWS_WITH(heap.Allocate(std::int64_t{1} << 60, MemoryTag::kGradient),
                    "[memory] 1,099,511,627,776 MB for gradient; the system has no more to give; "
                    "use a smaller batch or gradient checkpointing");
  CHECK(heap.live_bytes() == 0);
}

TEST_CASE("a moved block is freed once", "[memory]") {
  HeapAllocator heap;
  Block a = heap.Allocate(64, MemoryTag::kActivation);
  Block b = std::move(a);
  CHECK_FALSE(static_cast<bool>(a));  // NOLINT(bugprone-use-after-move)
  CHECK(static_cast<bool>(b));
  Block c = heap.Allocate(128, MemoryTag::kActivation);
  c = std::move(b);  // gives its own back
  CHECK(heap.live_bytes() == 64);
  Block& same = c;
  c = std::move(same);  // to itself: keeps it or gives it back, once
  c = Block();
  CHECK(heap.live_bytes() == 0);
}

TEST_CASE("addresses without storage differ and are aligned", "[memory][dry]") {
  NullAllocator null;
  std::set<void*> addresses;
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) {
    blocks.push_back(null.Allocate(std::int64_t{1} << 40, MemoryTag::kActivation));
    CHECK(IsAligned(blocks.back()));
    addresses.insert(blocks.back().data());
  }
  CHECK(addresses.size() == 100);  // a hundred terabytes, and none of them taken
  CHECK(addresses.count(nullptr) == 0);
}

TEST_CASE("addresses without storage never run out", "[memory][dry]") {
  NullAllocator null;
  for (int i = 0; i < 20'000; ++i) {
    const Block block = null.Allocate(std::int64_t{1} << 51, MemoryTag::kActivation);
    REQUIRE(reinterpret_cast<std::uintptr_t>(block.data()) >= kDryMemoryBegin);
    REQUIRE(reinterpret_cast<std::uintptr_t>(block.data()) < kDryMemoryEnd);
  }
}

TEST_CASE("the machine tells its memory", "[memory]") {
  const SystemMemory memory = ReadSystemMemory();
  CHECK(memory.physical_bytes > 0);
  CHECK(memory.available_bytes.value_or(0) > 0);
  CHECK(memory.LimitBytes() > 0);
  CHECK(memory.LimitBytes() <= memory.physical_bytes);
  CHECK(SystemMemory{.physical_bytes = 8, .control_group_bytes = 0}.LimitBytes() == 8);
  CHECK(SystemMemory{.physical_bytes = 8, .control_group_bytes = 3}.LimitBytes() == 3);
  const SystemMemory all = {
      .physical_bytes = 8, .control_group_bytes = 4, .address_space_bytes = 2};
  CHECK(all.LimitBytes() == 2);
  CHECK(NameOf(all.LimitKind()) == "the address space (ulimit -v)");
  CHECK(ResidentBytes() > 0);
  CHECK(PeakResidentBytes() >= ResidentBytes() / 2);
}

}  // namespace
}  // namespace frugal
