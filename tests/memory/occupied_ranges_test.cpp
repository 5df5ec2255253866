#include "sdk/memory/occupied_ranges.h"

#include <algorithm>
#include <random>

#include "tests/catch.h"

namespace frugal {
namespace {

bool IsIn(const std::vector<ByteRange>& ranges, std::int64_t byte) {
  return std::ranges::any_of(
      ranges, [&](const ByteRange& range) { return range.begin <= byte && byte < range.end; });
}

TEST_CASE("nothing is taken at first", "[memory][arena]") {
  std::vector<ByteRange> found = {{0, 1}};
  OccupiedRanges(7).Find(0, 7, found);
  CHECK(found.empty());
}

TEST_CASE("ranges that touch grow together", "[memory][arena]") {
  OccupiedRanges taken(4);
  taken.Take(0, 4, {0, 64});
  taken.Take(0, 4, {128, 192});
  std::vector<ByteRange> found;
  taken.Find(1, 3, found);
  CHECK(found.size() > 1);
  taken.Take(0, 4, {64, 128});
  taken.Find(0, 4, found);
  REQUIRE_FALSE(found.empty());
  for (const ByteRange& range : found) {
    CHECK(range.begin == 0);
    CHECK(range.end == 192);
  }
}

TEST_CASE("what is found is what was taken, at any time", "[memory][arena][property]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
    constexpr std::int64_t kBytes = 24;
    const std::size_t events = 1 + draw(20);
    OccupiedRanges taken(events);
    std::vector<std::vector<bool>> expected(events, std::vector<bool>(kBytes));
    std::vector<ByteRange> found;
    for (int i = 0; i < 20; ++i) {
      std::size_t first = draw(events);
      std::size_t last = first + 1 + draw(events - first);
      const auto begin = static_cast<std::int64_t>(draw(kBytes));
      const auto end =
          begin + 1 + static_cast<std::int64_t>(draw(static_cast<std::size_t>(kBytes - begin)));
      taken.Take(first, last, {begin, end});
      for (std::size_t event = first; event < last; ++event) {
        for (std::int64_t byte = begin; byte < end; ++byte) {
          expected[event][static_cast<std::size_t>(byte)] = true;
        }
      }
      first = draw(events);
      last = first + 1 + draw(events - first);
      taken.Find(first, last, found);
      CHECK(std::ranges::is_sorted(found, {}, &ByteRange::begin));
      for (std::int64_t byte = 0; byte < kBytes; ++byte) {
        bool any = false;
        for (std::size_t event = first; event < last; ++event) {
          any = any || expected[event][static_cast<std::size_t>(byte)];
        }
        INFO("seed " << seed << ", byte " << byte << " in [" << first << ", " << last << ")");
        REQUIRE(IsIn(found, byte) == any);
      }
    }
  }
}

}  // namespace
}  // namespace frugal
