#include "sdk/memory/arena_layout.h"

#include <algorithm>
#include <numeric>

#include "sdk/memory/occupied_ranges.h"

namespace frugal {
namespace {

using Order = std::vector<std::size_t>;

constexpr std::size_t kMany = 5000;  // blocks, from which on time is spared

struct LivePeak {
  std::int64_t bytes = 0;
  std::int64_t event = 0;
};

LivePeak LargestLiveSum(const std::vector<Lifetime>& lives, std::size_t events) {
  std::vector<std::int64_t> changes(events);
  for (const Lifetime& life : lives) {
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

// Offsets when the blocks are placed one by one in the given order.
std::vector<std::int64_t> Place(const std::vector<Lifetime>& lives, std::size_t events,
                                const Order& order) {
  std::vector<std::int64_t> offsets(lives.size(), -1);
  OccupiedRanges arena(events);
  std::vector<ByteRange> taken;
  for (const std::size_t at : order) {
    const auto first = static_cast<std::size_t>(lives[at].begin);
    const std::size_t last = std::min(events, static_cast<std::size_t>(lives[at].end));
    arena.Find(first, last, taken);
    offsets[at] = BestFit(taken, lives[at].bytes);
    if (lives[at].bytes > 0) arena.Take(first, last, {offsets[at], offsets[at] + lives[at].bytes});
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
  Best(const std::vector<Lifetime>& lives, std::size_t events) : lives_(lives), events_(events) {}

  // Places in the order and, up to `repairs` times, again with the block that reached highest
  // first; nothing more where the extent is down to `enough`. With many blocks, that gives up after
  // three times that did not help.
  void Try(Order order, std::int64_t enough, int repairs) {
    int in_vain = 0;
    for (int i = 0; i <= repairs && extent_ > enough; ++i) {
      const std::vector<std::int64_t> offsets = Place(lives_, events_, order);
      const std::size_t top = Topmost(offsets);
      const std::int64_t extent = order.empty() ? 0 : offsets[top] + lives_[top].bytes;
      if (extent < extent_) {
        extent_ = extent;
        offsets_ = offsets;
        in_vain = 0;
      } else if (++in_vain > 2 && order.size() > kMany) {
        return;
      }
      const auto at = std::ranges::find(order, top);
      if (at != order.end()) std::rotate(order.begin(), at, at + 1);
    }
  }
  std::int64_t extent() const { return extent_; }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  std::size_t Topmost(const std::vector<std::int64_t>& offsets) const {
    std::size_t top = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] + lives_[i].bytes > offsets[top] + lives_[top].bytes) top = i;
    }
    return top;
  }

  const std::vector<Lifetime>& lives_;
  std::size_t events_;
  std::int64_t extent_ = INT64_MAX;
  std::vector<std::int64_t> offsets_;
};

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

ArenaLayout PlaceInArena(const MemoryTrace& trace, std::int64_t enough) {
  std::vector<Lifetime> lives;
  std::ranges::copy_if(trace.lifetimes(), std::back_inserter(lives), &Lifetime::in_arena);
  ArenaLayout layout;
  const auto events = static_cast<std::size_t>(trace.event_count());
  const LivePeak peak = LargestLiveSum(lives, events);
  layout.lower_bound_bytes = peak.bytes;
  Best best(lives, events);
  enough = std::max(enough, layout.lower_bound_bytes);
  // Each order takes a second then, and a fiftieth is not worth ten.
  constexpr std::size_t kVeryMany = 100'000;
  if (lives.size() > kVeryMany) enough = std::max(enough, layout.lower_bound_bytes * 51 / 50);
  constexpr int kRepairs = 8, kManyRepairs = 100;
  const Orders orders(lives, trace, peak.event);
  const auto try_all = [&](std::int64_t limit, int repairs) {
    for (int i = 0; i < Orders::kCount && best.extent() > limit; ++i) {
      best.Try(orders.Number(i), limit, repairs);
    }
  };
  try_all(enough, kRepairs);
  // Gaps of more than a twentieth are worth another look where it takes no time.
  const std::int64_t close = layout.lower_bound_bytes * 21 / 20;
  if (lives.size() <= kMany) try_all(std::max(enough, close), kManyRepairs);
  layout.arena_bytes = best.extent();
  layout.loops = LoopsOf(trace);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    layout.items.push_back({lives[i].bytes, lives[i].tag, best.offsets()[i]});
  }
  return layout;
}

}  // namespace frugal
