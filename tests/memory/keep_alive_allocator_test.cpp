#include "sdk/memory/keep_alive_allocator.h"

#include <vector>

#include "sdk/memory/system_memory.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

struct Source {
  explicit Source(bool& flag) : gone(flag) {}
  ~Source() { gone = true; }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  bool& gone;
  HeapAllocator heap;
  KeepAliveAllocator lasting{heap};
};

TEST_CASE("blocks keep alive what they come from", "[memory]") {
  bool gone = false;
  auto source = std::make_shared<Source>(gone);
  source->lasting.KeepAlive(source);
  Block first = source->lasting.Allocate(100, MemoryTag::kActivation);
  Block empty = source->lasting.Allocate(0, MemoryTag::kActivation);
  CHECK(first.bytes() == 128);
  CHECK(first.IsFrom(source->lasting));
  CHECK_FALSE(first.IsFrom(source->heap));
  source.reset();
  CHECK_FALSE(gone);
  static_cast<char*>(first.data())[99] = 1;
  first = Block();
  CHECK_FALSE(gone);
  empty = Block();
  CHECK(gone);
}

TEST_CASE("a source without blocks goes at once; places are used again", "[memory]") {
  bool gone = false;
  auto source = std::make_shared<Source>(gone);
  source->lasting.KeepAlive(source);
  for (int round = 0; round < 3; ++round) {
    std::vector<Block> blocks;
    for (int i = 0; i < 50; ++i) {
      blocks.push_back(source->lasting.Allocate(64, MemoryTag::kData));
      CHECK(blocks.back().handle() < 50);
    }
    CHECK(source->heap.live_bytes() == 50 * 64);
  }
  CHECK(source->heap.live_bytes() == 0);
  source.reset();
  CHECK(gone);
}

}  // namespace
}  // namespace frugal::testing
