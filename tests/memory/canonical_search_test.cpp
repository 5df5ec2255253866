#include "sdk/memory/canonical_search.h"

#include <algorithm>

#include "sdk/core/random.h"
#include "tests/catch.h"

namespace frugal {
namespace {

using First = CanonicalSearch::First;
constexpr First kAll[] = {First::kMostContended, First::kLargestArea, First::kLargest,
                          First::kLongest};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : key_(StreamKey(seed, "blocks")) {}
  std::size_t Below(std::size_t bound) {
    return static_cast<std::size_t>(UniformAt(key_, next_++) * static_cast<double>(bound));
  }

 private:
  std::uint64_t key_;
  std::uint64_t next_ = 0;
};

// Blocks of 0 to 9 bytes that each live until some number of later ones have begun.
std::vector<TimedBlock> RandomBlocks(std::uint64_t seed, std::size_t count, std::size_t longest) {
  Dice dice(seed);
  std::vector<TimedBlock> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bytes = static_cast<std::int64_t>(dice.Below(10));
    blocks.push_back({bytes, i, std::min(count, i + 1 + dice.Below(longest))});
  }
  return blocks;
}

// Blocks that take `most_bytes` again and again: when those are taken, two end. Few such sets have
// no layout as small.
std::vector<TimedBlock> TightBlocks(std::uint64_t seed, std::size_t count, std::size_t most_bytes) {
  Dice dice(seed);
  std::vector<TimedBlock> blocks;
  std::vector<std::size_t> live;
  std::size_t left = most_bytes;
  while (blocks.size() < count) {
    const std::size_t ends = left > 0 ? 0 : std::min<std::size_t>(2, live.size());
    for (std::size_t i = 0; i < ends; ++i) {
      const std::size_t at = dice.Below(live.size());
      blocks[live[at]].last = blocks.size();
      left += static_cast<std::size_t>(blocks[live[at]].bytes);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const std::size_t bytes = 1 + dice.Below(std::min<std::size_t>(left, 4));
    live.push_back(blocks.size());
    blocks.push_back({static_cast<std::int64_t>(bytes), blocks.size(), count});
    left -= bytes;
  }
  return blocks;
}

std::int64_t MostLive(const std::vector<TimedBlock>& blocks) {
  std::int64_t most = 0;
  for (std::size_t time = 0; time < blocks.size(); ++time) {
    std::int64_t live = 0;
    for (std::size_t i = 0; i <= time; ++i) live += blocks[i].last > time ? blocks[i].bytes : 0;
    most = std::max(most, live);
  }
  return most;
}

bool Meet(const TimedBlock& one, const TimedBlock& other) {
  return one.first < other.last && other.first < one.last && one.bytes > 0 && other.bytes > 0;
}

void CheckLayout(const std::vector<TimedBlock>& blocks, const std::vector<std::int64_t>& offsets,
                 std::int64_t most_bytes) {
  REQUIRE(offsets.size() == blocks.size());
  bool fits = true;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::int64_t end = offsets[i] + blocks[i].bytes;
    fits = fits && offsets[i] >= 0 && end <= most_bytes;
    for (std::size_t j = 0; j < i; ++j) {
      const bool share = offsets[j] < end && offsets[i] < offsets[j] + blocks[j].bytes;
      fits = fits && !(share && Meet(blocks[i], blocks[j]));
    }
  }
  CHECK(fits);
}

// Tries every offset of every block, one block after the other.
bool AnyLayoutFits(const std::vector<TimedBlock>& blocks, std::int64_t most_bytes,
                   std::vector<std::int64_t> offsets = {}) {
  const std::size_t at = offsets.size();
  if (at == blocks.size()) return true;
  const TimedBlock& block = blocks[at];
  for (std::int64_t offset = 0; offset + block.bytes <= most_bytes; ++offset) {
    bool is_free = true;
    for (std::size_t i = 0; i < at && is_free; ++i) {
      const bool share = offset < offsets[i] + blocks[i].bytes && offsets[i] < offset + block.bytes;
      is_free = !(share && Meet(block, blocks[i]));
    }
    if (!is_free) continue;
    offsets.push_back(offset);
    if (AnyLayoutFits(blocks, most_bytes, offsets)) return true;
    offsets.pop_back();
    if (block.bytes == 0) return false;
  }
  return false;
}

TEST_CASE("a search finds a layout of few blocks wherever there is one",
          "[memory][arena][property]") {
  int with_gaps = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    INFO("seed " << seed);
    const std::vector<TimedBlock> blocks = TightBlocks(seed, 12, 8);
    const std::int64_t most_live = MostLive(blocks);
    const bool fits = AnyLayoutFits(blocks, most_live);
    with_gaps += fits ? 0 : 1;
    for (const First first : kAll) {
      const auto found = CanonicalSearch(blocks, most_live).Find(first, INT64_MAX);
      REQUIRE(found.empty() != fits);
      if (fits) CheckLayout(blocks, found, most_live);
      CHECK(CanonicalSearch(blocks, most_live - 1).Find(first, INT64_MAX).empty());
    }
  }
  INFO(with_gaps << " with gaps");
  CHECK(with_gaps > 0);
}

TEST_CASE("a search with room to spare finds a layout of many blocks at once",
          "[memory][arena][property]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    const std::vector<TimedBlock> blocks = RandomBlocks(seed, 300, 60);
    const std::int64_t most_bytes = MostLive(blocks) * 5 / 4;
    CanonicalSearch search(blocks, most_bytes);
    for (const First first : kAll) {  // one after the other leaves nothing behind
      CheckLayout(blocks, search.Find(first, 3000), most_bytes);
    }
  }
}

TEST_CASE("a search gives up when it has placed as many blocks as it may", "[memory][arena]") {
  const std::vector<TimedBlock> blocks = RandomBlocks(1, 300, 60);
  CanonicalSearch search(blocks, MostLive(blocks) * 5 / 4);
  CHECK(search.Find(First::kMostContended, 0).empty());
  CHECK(search.Find(First::kMostContended, 100).empty());
  CHECK_FALSE(search.Find(First::kMostContended, 3000).empty());
}

TEST_CASE("a search places none, one, and blocks of no bytes", "[memory][arena]") {
  CHECK(CanonicalSearch({}, 0).Find(First::kLongest, 1).empty());
  const std::vector<TimedBlock> empty = {{0, 0, 1}, {0, 1, 2}};
  CHECK(CanonicalSearch(empty, 0).Find(First::kLongest, 1) == std::vector<std::int64_t>{0, 0});
  const std::vector<TimedBlock> one = {{64, 0, 1}};
  CHECK(CanonicalSearch(one, 64).Find(First::kLongest, 1) == std::vector<std::int64_t>{0});
  CHECK(CanonicalSearch(one, 63).Find(First::kLongest, 1).empty());
}

}  // namespace
}  // namespace frugal
