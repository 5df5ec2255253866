#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "sdk/memory/arena_item.h"
#include "sdk/memory/trace.h"

namespace frugal {

// Places the arena's part of a trace as an allocator would that serves it: each block, when it
// begins, into the smallest gap that holds it (best fit). Takes O(n log n) time for n blocks, and
// memory by how many are live at once. Of many blocks the result is near the lower bound, unless a
// few of them are large and live through most of the others.
class TimeSweep {
 public:
  enum class Direction : std::uint8_t { kForward, kBackward };  // in time

  // The trace and its blocks in the arena, in order; both outlive the sweep.
  TimeSweep(const MemoryTrace& trace, std::vector<ArenaItem>& items);

  // Writes the items' offsets. Returns the end of the highest one.
  std::int64_t Run(Direction direction);

 private:
  using Number = std::uint32_t;  // of an item, or of a lifetime of the trace
  // Blocks that are live and gaps lie side by side from address 0 on; the last gap has no end.
  using Place = std::uint32_t;
  struct Node {
    std::int64_t begin = 0;
    Place before = 0;
    Place behind = 0;
  };
  // Grows without moving what is there, so that it never takes more than the nodes do.
  class Nodes {
   public:
    Node& operator[](Place place) { return (*blocks_[place / kBlock])[place % kBlock]; }
    const Node& operator[](Place place) const { return (*blocks_[place / kBlock])[place % kBlock]; }
    Place Add() {
      if (count_ % kBlock == 0) blocks_.push_back(std::make_unique<Block>());
      return count_++;
    }
    void Clear() { blocks_.clear(), count_ = 0; }

   private:
    static constexpr Place kBlock = 1024;
    using Block = std::array<Node, kBlock>;

    std::vector<std::unique_ptr<Block>> blocks_;
    Place count_ = 0;
  };
  using Gaps = std::set<std::pair<std::int64_t, Place>>;  // by bytes

  const Lifetime& LifeOf(Number item) const { return trace_.lifetimes()[lives_[item]]; }
  void Begin(Number item);
  void End(Number item);
  std::int64_t BytesOf(Place gap) const;
  // Takes a gap out of the set; returns its node for another one, empty where the place is no gap.
  Gaps::node_type Take(Place place) { return gaps_.extract({BytesOf(place), place}); }
  void AddGap(Place place, Gaps::node_type node);
  Place Insert(std::int64_t begin, Place before, Place behind);
  void Remove(Place place);

  const MemoryTrace& trace_;
  std::vector<ArenaItem>& items_;
  std::vector<Number> lives_;   // of the items
  std::vector<Number> by_end_;  // items, the first to end first
  Nodes nodes_;                 // the first stands before address 0, and is never a gap
  Place unused_ = 0;            // the first of these nodes, each naming the next as behind it
  Gaps gaps_;
  std::int64_t extent_ = 0;
};

}  // namespace frugal
