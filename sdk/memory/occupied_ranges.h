#pragma once

#include <cstdint>
#include <vector>

namespace frugal {

// Bytes [begin, end) of an address range.
struct ByteRange {
  std::int64_t begin;
  std::int64_t end;
};

// Tells which addresses are taken when: a segment tree over events, whose nodes hold ranges that
// have grown together. Blocks that fill an arena without gaps are one range, however many they are,
// so that asking takes a time by the gaps there are rather than by the blocks.
class OccupiedRanges {
 public:
  explicit OccupiedRanges(std::size_t events);

  // The range is taken in the events [first, last), which are not none.
  void Take(std::size_t first, std::size_t last, const ByteRange& range);
  // All that is taken in any of the events [first, last), by begin; ranges may overlap.
  void Find(std::size_t first, std::size_t last, std::vector<ByteRange>& found) const;

 private:
  using Ranges = std::vector<ByteRange>;  // disjoint, in order, with gaps between them
  // Returns whether any of it is new.
  static bool Add(Ranges& ranges, ByteRange range);

  std::size_t leaves_;
  std::vector<Ranges> throughout_;  // of each node: taken in all its events
  std::vector<Ranges> within_;      // taken in any of them, by itself or a node below
};

}  // namespace frugal
