#include "sdk/memory/arena_layout.h"

#include <algorithm>
#include <numeric>

#include "sdk/memory/taken_ranges.h"

namespace frugal {
namespace {

using Order = std::vector<std::size_t>;

struct LivePeak {
  std::int64_t bytes = 0;
  std::int64_t event = 0;
};

LivePeak LargestLiveSum(const std::vector<Lifetime>& lives) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // (event, bytes)
  for (const Lifetime& life : lives) {
    changes.emplace_back(life.begin, life.bytes);
    if (life.end != kStillLive) changes.emplace_back(life.end, -life.bytes);
  }
  std::ranges::sort(changes);
  std::int64_t live = 0;
  LivePeak peak;
  for (const auto& [event, bytes] : changes) {
    live += bytes;
    if (live > peak.bytes) peak = {live, event};
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
  TakenRanges arena(events);
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

std::vector<Order> Orders(const std::vector<Lifetime>& lives, std::int64_t peak) {
  Order order(lives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto duration = [&](std::size_t i) { return lives[i].end - lives[i].begin; };
  std::vector<Order> orders(5, order);
  std::ranges::stable_sort(orders[0], [&](std::size_t a, std::size_t b) {
    return lives[a].bytes != lives[b].bytes ? lives[a].bytes > lives[b].bytes
                                            : duration(a) > duration(b);
  });
  std::ranges::stable_sort(orders[1],
                           [&](std::size_t a, std::size_t b) { return duration(a) > duration(b); });
  const auto area = [&](std::size_t i) {
    return static_cast<double>(lives[i].bytes) * static_cast<double>(duration(i));
  };
  std::ranges::stable_sort(orders[2],
                           [&](std::size_t a, std::size_t b) { return area(a) > area(b); });
  // What is live at the peak has to lie without gaps then.
  const auto at_peak = [&](std::size_t i) { return lives[i].begin <= peak && peak < lives[i].end; };
  orders[3] = orders[0];
  std::stable_partition(orders[3].begin(), orders[3].end(), at_peak);
  orders[4] = orders[1];
  std::stable_partition(orders[4].begin(), orders[4].end(), at_peak);
  return orders;
}

// The layout with the least extent so far.
class Best {
 public:
  Best(const std::vector<Lifetime>& lives, std::size_t events) : lives_(lives), events_(events) {}

  // Places in the order and, up to kRepairs times, again with the block that reached highest first;
  // nothing more where the extent is down to `enough`. With many blocks, that gives up after
  // three times that did not help.
  void Try(Order order, std::int64_t enough) {
    constexpr int kRepairs = 8;
    constexpr std::size_t kMany = 5000;
    int in_vain = 0;
    for (int i = 0; i <= kRepairs && extent_ > enough; ++i) {
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

}  // namespace

ArenaLayout PlaceInArena(const MemoryTrace& trace, std::int64_t enough) {
  std::vector<Lifetime> lives;
  std::ranges::copy_if(trace.lifetimes(), std::back_inserter(lives), &Lifetime::in_arena);
  ArenaLayout layout;
  const LivePeak peak = LargestLiveSum(lives);
  layout.lower_bound_bytes = peak.bytes;
  Best best(lives, static_cast<std::size_t>(trace.event_count()));
  enough = std::max(enough, layout.lower_bound_bytes);
  // Each order takes a second then, and a fiftieth is not worth ten.
  constexpr std::size_t kVeryMany = 100'000;
  if (lives.size() > kVeryMany) enough = std::max(enough, layout.lower_bound_bytes * 51 / 50);
  for (const Order& order : Orders(lives, peak.event)) best.Try(order, enough);
  layout.arena_bytes = best.extent();
  for (std::size_t i = 0; i < lives.size(); ++i) {
    layout.items.push_back({lives[i].bytes, lives[i].tag, best.offsets()[i]});
  }
  return layout;
}

}  // namespace frugal
