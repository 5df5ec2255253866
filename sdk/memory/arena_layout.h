#pragma once

#include <cstdint>
#include <vector>

#include "sdk/memory/arena_item.h"
#include "sdk/memory/trace.h"

namespace frugal {

// An arena layout says where each block of a repeating allocation sequence lies.
struct ArenaLayout {
  using Item = ArenaItem;
  // Items [begin, end) come `times` times, one turn after the other, at the same places.
  struct Loop {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::int64_t times = 1;
  };
  std::vector<Item> items;             // in order of allocation
  std::vector<Loop> loops;             // by their beginnings; one inside another follows it
  std::int64_t arena_bytes = 0;        // end of the highest item
  std::int64_t lower_bound_bytes = 0;  // largest sum of live bytes: no layout can be smaller
};

// Places the arena's part of a trace, first in order of time (see TimeSweep). Where that does not
// reach the lower bound, blocks are placed largest first, each in the smallest gap that is free for
// its whole life (best fit), then by lifetime and by their product, then the first two with what is
// live at the peak before all else. Where that does not either, up to 5,000 blocks are searched for
// a layout that does (see CanonicalSearch), and at last all are placed again, those that ended
// above the lower bound raised in the order, some times over. The smallest result is kept. An arena
// of `enough` bytes will do: nothing smaller is looked for then; nor, of more than 20,000 blocks,
// than a thousandth over the lower bound, and of more than 100,000, than a fiftieth. A sweep takes
// O(n log n) time for n blocks, an order that times the number of gaps that lie between them; so
// these end after some seconds, and more than 200,000 blocks are only swept. Beside the trace and
// the layout, a million blocks take up to 25 MB while they are placed.
ArenaLayout PlaceInArena(const MemoryTrace& trace, std::int64_t enough = 0);

// Returns the lower bound of any layout, without one.
std::int64_t LeastArenaBytes(const MemoryTrace& trace);

}  // namespace frugal
