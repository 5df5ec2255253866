#include "sdk/memory/planned_arena.h"

#include <cstring>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/memory/random_trace.h"

namespace frugal {
namespace {

constexpr auto kTag = MemoryTag::kActivation;
const std::string kRule =
    "[arena] a step asks for the memory that was planned for it, in that order; ";
const std::string kAdvice = "; plan this batch size and mode before running it";

// Two blocks that live together, of 1 MB each.
ArenaLayout TwoBlocks() {
  MemoryTrace trace;
  const auto a = trace.Begin(1 << 20, kTag, 0, true);
  const auto b = trace.Begin(1 << 20, kTag, 0, true);
  trace.End(a);
  trace.End(b);
  return PlaceInArena(trace);
}

TEST_CASE("a step runs at its planned offsets, again and again", "[memory][arena]") {
  const ArenaLayout layout = TwoBlocks();
  PlannedArena arena(1 << 30);
  std::vector<void*> places;
  for (int step = 0; step < 3; ++step) {
    arena.Begin(layout);
    {
      const Block a = arena.Allocate(1 << 20, kTag);
      const Block b = arena.Allocate(1 << 20, kTag);
      CHECK(std::abs(static_cast<char*>(a.data()) - static_cast<char*>(b.data())) == 1 << 20);
      std::memset(a.data(), step, 1 << 20);
      places.push_back(a.data());
    }
    arena.End();
  }
  CHECK(places[0] == places[2]);
  CHECK(arena.growth_count() == 1);
  CHECK(arena.capacity_bytes() == layout.arena_bytes);
  CHECK(arena.saved_bytes() == layout.arena_bytes);
}

TEST_CASE("off the plan, the arena refuses", "[memory][arena]") {
  const ArenaLayout layout = TwoBlocks();
  PlannedArena arena(0);
  CHECK_THROWS_AS(arena.Allocate(64, kTag), UsageError);
  CHECK_THROWS_WITH(arena.Allocate(64, kTag), kRule + "64 B outside of a step" + kAdvice);
  arena.Begin(layout);
  CHECK_THROWS_WITH(arena.Allocate(64, kTag),
                    kRule +
                        "64 bytes of activation where 1048576 of activation were planned "
                        "(block 0)" +
                        kAdvice);
  const Block a = arena.Allocate(1 << 20, kTag);
  CHECK_THROWS_WITH(arena.Allocate(1 << 20, MemoryTag::kWorkspace),
                    kRule +
                        "1048576 bytes of workspace where 1048576 of activation were planned "
                        "(block 1)" +
                        kAdvice);
  const Block b = arena.Allocate(1 << 20, kTag);
  CHECK_THROWS_WITH(arena.Allocate(100, kTag),
                    kRule + "one more block, of 128 B of activation" + kAdvice);
  CHECK_THROWS_WITH(arena.Begin(layout), kRule + "another step is still under way" + kAdvice);
}

TEST_CASE("a block that outlives its step is told of", "[memory][arena]") {
  const ArenaLayout layout = TwoBlocks();
  PlannedArena arena(0);
  arena.Begin(layout);
  Block held = arena.Allocate(1 << 20, kTag);
  CHECK_THROWS_WITH(arena.End(), kRule + "1 of its blocks are still held after its end" + kAdvice);
  CHECK_THROWS_AS(arena.Begin(layout), UsageError);
  held = Block();
  arena.Begin(layout);  // as good as new
  arena.End();
}

TEST_CASE("between steps the arena keeps what it may", "[memory][arena]") {
  const ArenaLayout layout = TwoBlocks();
  for (const std::int64_t kept : {std::int64_t{0}, std::int64_t{1} << 19, std::int64_t{1} << 30}) {
    PlannedArena arena(kept);
    CHECK(arena.ResidentBytes() == 0);
    arena.Begin(layout);
    {
      const Block a = arena.Allocate(1 << 20, kTag);
      const Block b = arena.Allocate(1 << 20, kTag);
      std::memset(a.data(), 1, 1 << 20);
      std::memset(b.data(), 1, 1 << 20);
      CHECK(arena.ResidentBytes() == 2 << 20);
    }
    arena.End();
    CHECK(arena.saved_bytes() == std::min<std::int64_t>(kept, 2 << 20));
    CHECK(arena.ResidentBytes() == arena.saved_bytes());
  }
}

TEST_CASE("the arena grows with the largest plan and serves smaller ones", "[memory][arena]") {
  MemoryTrace small_trace;
  small_trace.Begin(64, kTag, 0, true);
  const ArenaLayout small = PlaceInArena(small_trace);
  const ArenaLayout large = TwoBlocks();
  PlannedArena arena(1 << 30);
  for (const ArenaLayout* layout : {&small, &large, &small, &large}) {
    arena.Begin(*layout);
    arena.End();
  }
  CHECK(arena.growth_count() == 2);
  CHECK(arena.capacity_bytes() == large.arena_bytes);
  const ArenaLayout empty;
  arena.Begin(empty);
  CHECK_THROWS_AS(arena.Allocate(64, kTag), UsageError);
  arena.End();
}

TEST_CASE("room reserved at first spares the growth later", "[memory][arena]") {
  MemoryTrace small_trace;
  small_trace.Begin(64, kTag, 0, true);
  const ArenaLayout small = PlaceInArena(small_trace);
  const ArenaLayout large = TwoBlocks();
  PlannedArena arena(1 << 30);
  arena.ReserveFor(large.arena_bytes);
  CHECK(arena.capacity_bytes() == 0);  // nothing is taken before the first step
  for (const ArenaLayout* layout : {&small, &large}) {
    arena.Begin(*layout);
    arena.End();
  }
  CHECK(arena.growth_count() == 1);
}

TEST_CASE("after an error in a step the next one starts afresh", "[memory][arena]") {
  const ArenaLayout layout = TwoBlocks();
  PlannedArena arena(0);
  arena.Begin(layout);
  const void* first = nullptr;
  {
    const Block only_one = arena.Allocate(1 << 20, kTag);
    first = only_one.data();
  }
  CHECK_THROWS_AS(arena.Begin(layout), UsageError);  // the step is still under way
  arena.Abandon();
  CHECK_THROWS_AS(arena.Allocate(1 << 20, kTag), UsageError);
  REQUIRE_NOTHROW(arena.Begin(layout));
  {
    const Block a = arena.Allocate(1 << 20, kTag);
    CHECK(a.data() == first);  // the plan is followed from its first block
    const Block b = arena.Allocate(1 << 20, kTag);
    CHECK_THROWS_AS(arena.Allocate(1 << 20, kTag), UsageError);
  }
  CHECK_NOTHROW(arena.End());
  CHECK(arena.growth_count() == 1);
}

// Fills every block with its number and looks, when it dies, whether anyone wrote over it.
void Replay(PlannedArena& arena, const std::vector<Lifetime>& lives, std::int64_t events) {
  std::vector<Block> blocks(lives.size());
  for (std::int64_t event = 0; event < events; ++event) {
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const auto mark = static_cast<unsigned char>(i);
      if (lives[i].begin == event) {
        blocks[i] = arena.Allocate(lives[i].bytes, lives[i].tag);
        std::memset(blocks[i].data(), mark, static_cast<std::size_t>(lives[i].bytes));
      }
      if (lives[i].end != event) continue;
      const auto* bytes = static_cast<const unsigned char*>(blocks[i].data());
      REQUIRE(std::all_of(bytes, bytes + lives[i].bytes, [=](auto b) { return b == mark; }));
      blocks[i] = Block();
    }
  }
}

TEST_CASE("random steps run in their arena without touching each other",
          "[memory][arena][property]") {
  PlannedArena arena(1 << 16);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const testing::RandomTrace random(seed);
    const ArenaLayout layout = PlaceInArena(random.trace());
    arena.Begin(layout);
    Replay(arena, random.trace().lifetimes(), random.trace().event_count());
    arena.End();
  }
}

}  // namespace
}  // namespace frugal
