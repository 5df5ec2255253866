#include "sdk/memory/arena_layout.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "sdk/memory/canonical_search.h"
#include "sdk/memory/occupied_ranges.h"
#include "sdk/memory/time_sweep.h"
#include "sdk/memory/timed_block.h"

namespace frugal {
namespace {

using Order = std::vector<std::size_t>;

// Blocks, up to which searches by every order take no time; from which on none is made and fewer
// repairs are tried; from which on a thousandth over the lower bound is enough, and a fiftieth; and
// the most that are placed by orders at all.
constexpr std::size_t kFew = 2500, kMany = 5000, kThousandthIsEnough = 20'000,
                      kFiftiethIsEnough = 100'000, kMostOrdered = 200'000;
// Ranges that are looked at to place by orders, in some seconds. Steps of networks need far fewer.
constexpr std::int64_t kMostRanges = 100'000'000;

struct LivePeak {
  std::int64_t bytes = 0;
  std::int64_t event = 0;
};

LivePeak LargestLiveSum(const MemoryTrace& trace) {
  const auto events = static_cast<std::size_t>(trace.event_count());
  std::vector<std::int64_t> changes(events);
  for (const Lifetime& life : trace.lifetimes()) {
    if (!life.in_arena) continue;
    changes[static_cast<std::size_t>(life.begin)] += life.bytes;
    if (life.end != kStillLive) changes[static_cast<std::size_t>(life.end)] -= life.bytes;
  }
  std::int64_t live = 0;
  LivePeak peak;
  for (std::size_t event = 0; event < events; ++event) {
    live += changes[event];
    if (live > peak.bytes) peak = {live, static_cast<std::int64_t>(event)};
  }
  return peak;
}

// The lowest start of the smallest gap that holds `bytes` between ranges sorted by begin.
std::int64_t BestFit(const std::vector<ByteRange>& taken, std::int64_t bytes) {
  std::int64_t best = -1;
  std::int64_t best_gap = INT64_MAX;
  std::int64_t free_from = 0;
  for (const ByteRange& range : taken) {
    const std::int64_t gap = range.begin - free_from;
    if (gap >= bytes && gap < best_gap) {
      best = free_from;
      best_gap = gap;
    }
    free_from = std::max(free_from, range.end);
  }
  return best >= 0 ? best : free_from;
}

std::vector<Lifetime> ArenaPart(const MemoryTrace& trace) {
  std::vector<Lifetime> lives;
  std::ranges::copy_if(trace.lifetimes(), std::back_inserter(lives), &Lifetime::in_arena);
  return lives;
}

std::vector<TimedBlock> BlocksOf(const std::vector<Lifetime>& lives) {
  std::vector<TimedBlock> blocks;
  for (const Lifetime& life : lives) {
    const auto behind = std::ranges::lower_bound(lives, life.end, {}, &Lifetime::begin);
    blocks.push_back({life.bytes, blocks.size(), static_cast<std::size_t>(behind - lives.begin())});
  }
  return blocks;
}

// Offsets when the blocks are placed one by one in the given order; none where that would look at
// more ranges than are `left`.
std::vector<std::int64_t> Place(const std::vector<TimedBlock>& blocks, const Order& order,
                                std::int64_t& left) {
  std::vector<std::int64_t> offsets(blocks.size(), -1);
  OccupiedRanges arena(blocks.size());
  std::vector<ByteRange> taken;
  for (const std::size_t at : order) {
    const TimedBlock& block = blocks[at];
    arena.Find(block.first, block.last, taken);
    left -= std::ssize(taken);
    if (left < 0) return {};
    offsets[at] = BestFit(taken, block.bytes);
    if (block.bytes == 0) continue;
    arena.Take(block.first, block.last, {offsets[at], offsets[at] + block.bytes});
  }
  return offsets;
}

// How long each block lives, in events of all turns of every loop.
std::vector<std::int64_t> DurationsOf(const std::vector<Lifetime>& lives,
                                      const MemoryTrace& trace) {
  const std::vector<std::int64_t> whole = trace.WholeEvents();
  std::vector<std::int64_t> durations;
  for (const Lifetime& life : lives) {
    const std::int64_t end =
        life.end == kStillLive ? kStillLive : whole[static_cast<std::size_t>(life.end)];
    durations.push_back(end - whole[static_cast<std::size_t>(life.begin)]);
  }
  return durations;
}

// Orders to place blocks in, each made when it is asked for.
class Orders {
 public:
  static constexpr int kCount = 5;

  Orders(const std::vector<Lifetime>& lives, const MemoryTrace& trace, std::int64_t peak)
      : lives_(lives), durations_(DurationsOf(lives, trace)), peak_(peak) {}

  Order Number(int number) const {
    if (number == 0) return BySize();
    if (number == 1) return ByDuration();
    if (number == 2) return ByArea();
    // Blocks that are live at the peak have to lie without gaps then.
    Order order = number == 3 ? BySize() : ByDuration();
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
      return lives_[i].begin <= peak_ && peak_ < lives_[i].end;
    });
    return order;
  }

 private:
  template <class Before>
  Order Sorted(const Before& before) const {
    Order order(lives_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, before);
    return order;
  }
  Order BySize() const {
    return Sorted([&](std::size_t a, std::size_t b) {
      return lives_[a].bytes != lives_[b].bytes ? lives_[a].bytes > lives_[b].bytes
                                                : durations_[a] > durations_[b];
    });
  }
  Order ByDuration() const {
    return Sorted([&](std::size_t a, std::size_t b) { return durations_[a] > durations_[b]; });
  }
  Order ByArea() const {
    const auto area = [&](std::size_t i) {
      return static_cast<double>(lives_[i].bytes) * static_cast<double>(durations_[i]);
    };
    return Sorted([&](std::size_t a, std::size_t b) { return area(a) > area(b); });
  }

  const std::vector<Lifetime>& lives_;
  std::vector<std::int64_t> durations_;
  std::int64_t peak_;
};

// The layout with the least extent so far.
class Best {
 public:
  // `extent` is that of one that is known; none is less than `least`.
  Best(std::vector<TimedBlock> blocks, std::int64_t extent, std::int64_t least)
      : blocks_(std::move(blocks)), extent_(extent), least_(least) {}

  // Looks for a layout of the least extent, unless the extent is down to `enough`. What is found
  // does not depend on that, so less is enough for no larger a layout.
  void Search(std::int64_t enough) {
    using First = CanonicalSearch::First;
    constexpr std::array kOrders = {First::kMostContended, First::kLargest, First::kLargestArea,
                                    First::kLongest};
    constexpr std::int64_t kTurns = 2;  // of placing every block
    CanonicalSearch search(blocks_, least_);
    for (const First first : std::span(kOrders).first(blocks_.size() <= kFew ? 4 : 1)) {
      if (extent_ <= enough) return;
      std::vector<std::int64_t> offsets = search.Find(first, kTurns * std::ssize(blocks_));
      if (offsets.empty()) continue;
      extent_ = least_;
      offsets_ = std::move(offsets);
    }
  }
  // Places in the order and, up to `repairs` times, again with what ended above the least extent
  // raised in it by a fifth of all (Joslin and Clements, "Squeaky wheel" optimization, JAIR 10,
  // 1999); nothing more where the extent is down to `enough`, of which again nothing depends. With
  // many blocks, that gives up after three times that did not help.
  void Try(Order order, std::int64_t enough, int repairs) {
    const std::size_t raise = std::max<std::size_t>(1, order.size() / 5);
    std::vector<std::int64_t> ranks = RanksOf(order);
    int in_vain = 0;
    for (int i = 0; i <= repairs && extent_ > enough; ++i) {
      const std::vector<std::int64_t> offsets = Place(blocks_, order, ranges_left_);
      if (offsets.empty()) return;
      const std::int64_t extent = ExtentOf(offsets);
      if (extent < extent_) {
        extent_ = extent;
        offsets_ = offsets;
        in_vain = 0;
      } else if (++in_vain > 2 && order.size() > kMany) {
        return;
      }
      for (std::size_t at = 0; at < offsets.size(); ++at) {
        if (offsets[at] + blocks_[at].bytes > least_) ranks[at] -= static_cast<std::int64_t>(raise);
      }
      std::ranges::stable_sort(order, {}, [&](std::size_t at) { return ranks[at]; });
    }
  }
  std::int64_t extent() const { return extent_; }
  // Empty where none was smaller than the known extent.
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  static std::vector<std::int64_t> RanksOf(const Order& order) {
    std::vector<std::int64_t> ranks(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<std::int64_t>(i);
    return ranks;
  }
  std::int64_t ExtentOf(const std::vector<std::int64_t>& offsets) const {
    std::int64_t extent = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      extent = std::max(extent, offsets[i] + blocks_[i].bytes);
    }
    return extent;
  }

  std::vector<TimedBlock> blocks_;
  std::int64_t extent_;
  std::int64_t least_;
  std::int64_t ranges_left_ = kMostRanges;
  std::vector<std::int64_t> offsets_;
};

// Sweeps forward and, where that is not enough, backward. Returns the extent of the smaller one,
// whose offsets the items have.
std::int64_t PlaceBySweep(const MemoryTrace& trace, std::int64_t enough,
                          std::vector<ArenaLayout::Item>& items) {
  TimeSweep sweep(trace, items);
  const std::int64_t forward = sweep.Run(TimeSweep::Direction::kForward);
  if (forward <= enough) return forward;
  const std::int64_t backward = sweep.Run(TimeSweep::Direction::kBackward);
  return backward < forward ? backward : sweep.Run(TimeSweep::Direction::kForward);
}

// Places by orders what is below the extent of a known layout. Returns the least extent.
std::int64_t PlaceByOrders(const MemoryTrace& trace, const LivePeak& peak, std::int64_t known,
                           std::int64_t enough, std::vector<ArenaLayout::Item>& items) {
  const std::vector<Lifetime> lives = ArenaPart(trace);
  const Orders orders(lives, trace, peak.event);
  Best best(BlocksOf(lives), known, peak.bytes);
  const auto try_all = [&](int repairs) {
    for (int i = 0; i < Orders::kCount && best.extent() > enough; ++i) {
      best.Try(orders.Number(i), enough, repairs);
    }
  };
  try_all(0);
  if (lives.size() <= kMany) best.Search(enough);
  try_all(8);
  for (std::size_t i = 0; i < best.offsets().size(); ++i) items[i].offset = best.offsets()[i];
  return best.extent();
}

// Loops of the trace in which something of the arena is taken, counting its items.
std::vector<ArenaLayout::Loop> LoopsOf(const MemoryTrace& trace) {
  const std::vector<Lifetime>& lives = trace.lifetimes();
  std::vector<std::size_t> items(lives.size() + 1);  // before each life
  for (std::size_t i = 0; i < lives.size(); ++i) items[i + 1] = items[i] + lives[i].in_arena;
  std::vector<ArenaLayout::Loop> loops;
  for (const RepeatedTurn& turn : trace.repeated()) {
    const ArenaLayout::Loop loop = {items[turn.first_life], items[turn.last_life], turn.times};
    if (loop.begin < loop.end) loops.push_back(loop);
  }
  // Loops that begin together nest: the one inside was recorded first.
  std::ranges::reverse(loops);
  std::ranges::stable_sort(loops, {}, &ArenaLayout::Loop::begin);
  return loops;
}

}  // namespace

std::int64_t LeastArenaBytes(const MemoryTrace& trace) { return LargestLiveSum(trace).bytes; }

ArenaLayout PlaceInArena(const MemoryTrace& trace, std::int64_t enough) {
  ArenaLayout layout;
  const LivePeak peak = LargestLiveSum(trace);
  layout.lower_bound_bytes = peak.bytes;
  layout.loops = LoopsOf(trace);
  const auto count = std::ranges::count_if(trace.lifetimes(), &Lifetime::in_arena);
  layout.items.reserve(static_cast<std::size_t>(count));
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.in_arena) layout.items.push_back({life.bytes, life.tag});
  }
  enough = std::max(enough, layout.lower_bound_bytes);
  if (layout.items.empty()) return layout;
  if (layout.items.size() > kFiftiethIsEnough) {
    enough = std::max(enough, layout.lower_bound_bytes / 50 * 51);
  } else if (layout.items.size() > kThousandthIsEnough) {
    enough = std::max(enough, layout.lower_bound_bytes / 1000 * 1001);
  }
  layout.arena_bytes = PlaceBySweep(trace, enough, layout.items);
  if (layout.items.size() <= kMostOrdered && layout.arena_bytes > enough) {
    layout.arena_bytes = PlaceByOrders(trace, peak, layout.arena_bytes, enough, layout.items);
  }
  return layout;
}

}  // namespace frugal
