#include "sdk/memory/arena_layout.h"

#include <ctime>
#include <map>
#include <utility>

#include "sdk/memory/time_sweep.h"
#include "tests/catch.h"
#include "tests/memory/random_trace.h"
#include "tests/skip.h"
#include "tests/support/many_lifetimes.h"

namespace frugal {
namespace {

std::vector<Lifetime> ArenaPart(const MemoryTrace& trace) {
  std::vector<Lifetime> lives;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.in_arena) lives.push_back(life);
  }
  return lives;
}

// No two blocks that live at one time share a byte.
void CheckDisjoint(const std::vector<Lifetime>& lives, const ArenaLayout& layout) {
  REQUIRE(lives.size() == layout.items.size());
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const auto& a = layout.items[i];
    REQUIRE(a.bytes == lives[i].bytes);
    REQUIRE(a.tag == lives[i].tag);
    REQUIRE(a.offset >= 0);
    REQUIRE(a.offset % 64 == 0);
    REQUIRE(a.offset + a.bytes <= layout.arena_bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const auto& b = layout.items[j];
      const bool together = lives[j].begin < lives[i].end && lives[i].begin < lives[j].end;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      REQUIRE_FALSE((together && overlap));
    }
  }
}

std::int64_t LargestSum(const std::vector<Lifetime>& lives, std::int64_t events) {
  std::int64_t largest = 0;
  for (std::int64_t event = 0; event < events; ++event) {
    std::int64_t sum = 0;
    for (const Lifetime& life : lives) {
      if (life.begin <= event && event < life.end) sum += life.bytes;
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

TEST_CASE("an empty trace needs no arena", "[memory][arena]") {
  const ArenaLayout layout = PlaceInArena(MemoryTrace());
  CHECK(layout.items.empty());
  CHECK(layout.arena_bytes == 0);
  CHECK(layout.lower_bound_bytes == 0);
}

TEST_CASE("blocks that follow each other share their place", "[memory][arena]") {
  MemoryTrace trace;
  trace.End(trace.Begin(640, MemoryTag::kActivation, 0, true));
  trace.Begin(999936, MemoryTag::kParameter, 0, false);  // not the arena's
  trace.End(trace.Begin(640, MemoryTag::kActivation, 0, true));
  trace.Begin(320, MemoryTag::kActivation, 0, true);  // never freed
  const ArenaLayout layout = PlaceInArena(trace);
  CHECK(layout.items.size() == 3);
  CHECK(layout.arena_bytes == 640);
  CHECK(layout.lower_bound_bytes == 640);
}

TEST_CASE("blocks of no bytes are placed too", "[memory][arena]") {
  MemoryTrace trace;
  trace.Begin(0, MemoryTag::kActivation, 0, true);
  trace.Begin(64, MemoryTag::kActivation, 0, true);
  const ArenaLayout layout = PlaceInArena(trace);
  CHECK(layout.items.size() == 2);
  CHECK(layout.arena_bytes == 64);
}

TEST_CASE("random steps are placed without overlap, near the lower bound",
          "[memory][arena][property]") {
  double over = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const testing::RandomTrace random(seed);
    const std::vector<Lifetime> lives = ArenaPart(random.trace());
    const ArenaLayout layout = PlaceInArena(random.trace());
    CheckDisjoint(lives, layout);
    CHECK(layout.lower_bound_bytes == LargestSum(lives, random.trace().event_count()));
    CHECK(layout.arena_bytes >= layout.lower_bound_bytes);
    CHECK(layout.arena_bytes <= layout.lower_bound_bytes * 101 / 100);
    over += static_cast<double>(layout.arena_bytes) / static_cast<double>(layout.lower_bound_bytes);
  }
  CHECK(over / 200 < 1.0001);
}

// A plan within a budget relies on it: what was enough for the budget is laid out once more, as
// small as may be.
TEST_CASE("less that is enough never makes an arena larger", "[memory][arena][property]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    const testing::RandomTrace random(seed);
    std::int64_t last = PlaceInArena(random.trace()).arena_bytes;
    for (const std::int64_t percent : {101, 102, 104, 108, 120}) {
      const std::int64_t enough = LeastArenaBytes(random.trace()) * percent / 100;
      const std::int64_t bytes = PlaceInArena(random.trace(), enough).arena_bytes;
      CHECK(bytes >= last);
      last = bytes;
    }
  }
}

TEST_CASE("a step of 20,000 blocks is placed at once, near the lower bound", "[memory][arena]") {
  MemoryTrace trace;
  std::vector<std::int64_t> kept;
  for (int i = 0; i < 5000; ++i) {
    kept.push_back(trace.Begin(64 * (1 + i * 7 % 13), MemoryTag::kActivation, 0, true));
    trace.End(trace.Begin(64 * (1 + i * 5 % 11), MemoryTag::kWorkspace, 0, true));
  }
  std::int64_t gradient = trace.Begin(64, MemoryTag::kActivation, 0, true);
  for (; !kept.empty(); kept.pop_back()) {
    const auto bytes = static_cast<std::int64_t>(64 * (1 + kept.size() * 7 % 13));
    const std::int64_t next = trace.Begin(bytes, MemoryTag::kActivation, 0, true);
    trace.End(gradient);
    trace.End(kept.back());
    gradient = next;
  }
  const std::clock_t start = std::clock();
  const ArenaLayout layout = PlaceInArena(trace);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 2);
  CHECK(layout.arena_bytes <= layout.lower_bound_bytes * 1001 / 1000);
}

// All that is live after each event lies side by side, in order of time.
void CheckDisjointInTime(const MemoryTrace& trace, const ArenaLayout& layout) {
  std::vector<std::pair<std::int64_t, bool>> changes;  // item, and true where it begins
  changes.resize(static_cast<std::size_t>(trace.event_count()));
  const std::vector<Lifetime>& lives = trace.lifetimes();
  for (std::size_t i = 0; i < lives.size(); ++i) {
    changes[static_cast<std::size_t>(lives[i].begin)] = {i, true};
    if (lives[i].end != kStillLive) changes[static_cast<std::size_t>(lives[i].end)] = {i, false};
  }
  std::map<std::int64_t, std::int64_t> live;  // ends by begins
  bool disjoint = true;
  for (const auto& [number, begins] : changes) {
    const ArenaLayout::Item& item = layout.items[static_cast<std::size_t>(number)];
    if (!begins) {
      live.erase(item.offset);
      continue;
    }
    const auto behind = live.lower_bound(item.offset);
    const std::int64_t end = item.offset + item.bytes;
    disjoint = disjoint && (behind == live.end() || behind->first >= end);
    disjoint = disjoint && (behind == live.begin() || std::prev(behind)->second <= item.offset);
    disjoint = disjoint && item.offset >= 0 && end <= layout.arena_bytes;
    live[item.offset] = end;
  }
  CHECK(disjoint);
}

// `./run bench planner --buffers 1000000` lays out a million, in seconds.
TEST_CASE("200,000 and more blocks are placed at once", "[memory][arena]") {
  for (const testing::LifetimePattern pattern : testing::kLifetimePatterns) {
    for (const std::int64_t count : {6'000, 250'000}) {
      INFO(testing::NameOf(pattern) << ", " << count);
      const testing::ManyLifetimes many(pattern, count);
      const std::clock_t start = std::clock();
      const ArenaLayout layout = PlaceInArena(many.trace());
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      if (!testing::kIsSanitized) CHECK(seconds < 10);
      REQUIRE(std::ssize(layout.items) == std::ssize(many.trace().lifetimes()));
      CheckDisjointInTime(many.trace(), layout);
      const bool by_sweep_alone = count > 200'000;
      const bool some_live_long = pattern == testing::LifetimePattern::kShort;
      const double enough = by_sweep_alone && some_live_long ? 1.25 : 1.05;
      CHECK(static_cast<double>(layout.arena_bytes) <=
            enough * static_cast<double>(layout.lower_bound_bytes));
    }
  }
}

TEST_CASE("a sweep places what never ends, and blocks of no bytes", "[memory][arena]") {
  MemoryTrace trace;
  const std::int64_t first = trace.Begin(128, MemoryTag::kActivation, 0, true);
  trace.Begin(0, MemoryTag::kActivation, 0, true);
  const std::int64_t empty = trace.Begin(0, MemoryTag::kActivation, 0, true);
  trace.Begin(64, MemoryTag::kParameter, 0, false);
  trace.End(first);
  trace.Begin(64, MemoryTag::kActivation, 0, true);
  trace.End(empty);
  trace.Begin(64, MemoryTag::kActivation, 0, true);
  std::vector<ArenaLayout::Item> items;
  for (const Lifetime& life : ArenaPart(trace)) items.push_back({life.bytes, life.tag});
  TimeSweep sweep(trace, items);
  for (const auto direction : {TimeSweep::Direction::kForward, TimeSweep::Direction::kBackward}) {
    CHECK(sweep.Run(direction) == 128);
    ArenaLayout layout;
    layout.items = items;
    layout.arena_bytes = 128;
    CheckDisjoint(ArenaPart(trace), layout);
  }
}

TEST_CASE("an arena that is small enough is not made smaller", "[memory][arena]") {
  const testing::RandomTrace random(3);
  const ArenaLayout best = PlaceInArena(random.trace());
  const ArenaLayout enough = PlaceInArena(random.trace(), 2 * best.arena_bytes);
  CheckDisjoint(ArenaPart(random.trace()), enough);
  CHECK(enough.arena_bytes >= best.arena_bytes);
  CHECK(enough.arena_bytes <= 2 * best.arena_bytes);
}

}  // namespace
}  // namespace frugal
