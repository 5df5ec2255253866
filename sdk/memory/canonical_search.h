#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "sdk/memory/timed_block.h"

namespace frugal {

// Looks for a layout that ends at a given number of bytes, depth first over canonical ones: those
// that place blocks from the bottom to the top, each as low as what lies below it lets it (Moffitt,
// "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS
// 2023). It turns back where, at some time, what has to come on top of what is placed would end too
// high. Placing one of n blocks, or taking it back, takes O(n log n) time.
class CanonicalSearch {
 public:
  // Blocks come in order of their beginnings.
  CanonicalSearch(std::span<const TimedBlock> blocks, std::int64_t most_bytes);

  // Tells which of the blocks that may lie equally low is tried first.
  enum class First : std::uint8_t {
    kMostContended,  // of the most bytes at one time of its life, then as below
    kLargestArea,    // bytes times lifetime
    kLargest,        // bytes, then lifetime
    kLongest,        // lifetime, then bytes
  };

  // Returns an offset for each block, or nothing where there is no such layout, or none was found
  // while blocks were placed `most_placed` times.
  std::vector<std::int64_t> Find(First first, std::int64_t most_placed);

 private:
  using Number = std::uint32_t;  // of a block, in the order they are tried in; or of a time

  // A block that has bytes. Its times are numbers of those at which something ends before the next
  // block begins: at others no more is live than at the next of these.
  struct Block {
    std::int64_t bytes = 0;
    Number begin = 0;
    Number end = 0;
    std::size_t item = 0;  // its number for the caller
    std::int64_t most_live = 0;
  };
  struct Time {
    std::int64_t floor = 0;     // nothing more can begin below
    std::int64_t unplaced = 0;  // bytes of what is live and not yet placed
  };
  // Holds what placing a block changed, to undo it.
  struct Placed {
    Number block = 0;
    std::size_t place = 0;  // in the order of the unplaced
    std::size_t offsets_before = 0;
    std::size_t floors_before = 0;
    bool is_topmost = false;  // nothing comes above it
  };
  struct Changed {
    Number number = 0;
    std::int64_t before = 0;
  };

  void Begin(First first);
  bool PlaceNext(std::size_t from);
  bool Place(std::size_t place);
  void RaiseFloors(Number begin, Number end);
  void SetFloor(Number time, std::int64_t floor);
  Placed TakeBack();

  bool IsBefore(Number one, Number other) const {
    return offsets_[one] != offsets_[other] ? offsets_[one] < offsets_[other] : one < other;
  }
  bool Overlap(Number one, Number other) const {
    return blocks_[one].begin < blocks_[other].end && blocks_[other].begin < blocks_[one].end;
  }

  std::int64_t most_bytes_;
  std::size_t item_count_;
  std::vector<Block> blocks_;
  std::vector<Time> times_before_, times_;  // before any block is placed, and now
  std::vector<std::int64_t> offsets_;       // of the placed; of others the least they can have
  std::vector<Number> unplaced_;            // the one that may lie lowest first
  std::vector<Placed> placed_;
  std::deque<Changed> changed_offsets_, changed_floors_;  // there are many: not moved as they grow
  std::vector<Number> raised_, kept_;                     // of the block that is being placed
  std::vector<Number> next_lower_;  // the first time from here on whose floor is not yet raised
  std::int64_t left_ = 0;           // blocks to place before giving up
};

}  // namespace frugal
