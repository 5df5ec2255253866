#include "sdk/memory/time_sweep.h"

#include <algorithm>
#include <limits>

namespace frugal {
namespace {

constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

}  // namespace

TimeSweep::TimeSweep(const MemoryTrace& trace, std::vector<ArenaItem>& items)
    : trace_(trace), items_(items), by_end_(items.size()) {
  lives_.reserve(items.size());
  const std::vector<Lifetime>& lives = trace.lifetimes();
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].in_arena) lives_.push_back(static_cast<Number>(i));
  }
  constexpr Number kNone = std::numeric_limits<Number>::max();
  std::vector<Number> ending(static_cast<std::size_t>(trace.event_count()), kNone);  // by event
  std::size_t last = items.size();  // those that never end come behind the others, in order
  for (std::size_t item = items.size(); item-- > 0;) {
    const std::int64_t end = LifeOf(static_cast<Number>(item)).end;
    if (end == kStillLive) {
      by_end_[--last] = static_cast<Number>(item);
    } else {
      ending[static_cast<std::size_t>(end)] = static_cast<Number>(item);
    }
  }
  std::ranges::copy_if(ending, by_end_.begin(), [](Number item) { return item != kNone; });
}

std::int64_t TimeSweep::Run(Direction direction) {
  nodes_.Clear();
  nodes_[nodes_.Add()].behind = 1;
  nodes_.Add();
  unused_ = 0;
  gaps_ = {{kNoEnd, 1}};
  extent_ = 0;
  const std::size_t count = items_.size();
  std::size_t ended = 0, begun = 0;
  if (direction == Direction::kForward) {
    for (; begun < count; ++begun) {
      const auto item = static_cast<Number>(begun);
      for (; LifeOf(by_end_[ended]).end < LifeOf(item).begin; ++ended) End(by_end_[ended]);
      Begin(item);
    }
    for (; ended < count; ++ended) End(by_end_[ended]);
    return extent_;
  }
  // Backwards, a block begins with its end.
  for (; begun < count; ++begun) {
    const Number item = by_end_[count - 1 - begun];
    for (; LifeOf(static_cast<Number>(count - 1 - ended)).begin > LifeOf(item).end; ++ended) {
      End(static_cast<Number>(count - 1 - ended));
    }
    Begin(item);
  }
  for (; ended < count; ++ended) End(static_cast<Number>(count - 1 - ended));
  return extent_;
}

std::int64_t TimeSweep::BytesOf(Place gap) const {
  const Place behind = nodes_[gap].behind;
  return behind == 0 ? kNoEnd : nodes_[behind].begin - nodes_[gap].begin;
}

TimeSweep::Place TimeSweep::Insert(std::int64_t begin, Place before, Place behind) {
  Place place = unused_;
  if (place == 0) {
    place = nodes_.Add();
  } else {
    unused_ = nodes_[place].behind;
  }
  nodes_[place] = {begin, before, behind};
  nodes_[before].behind = place;
  if (behind != 0) nodes_[behind].before = place;
  return place;
}

void TimeSweep::Remove(Place place) {
  const Node node = nodes_[place];
  nodes_[node.before].behind = node.behind;
  if (node.behind != 0) nodes_[node.behind].before = node.before;
  nodes_[place].behind = unused_;
  unused_ = place;
}

// A gap's node is made anew only where none was taken: there are as many changes as blocks.
void TimeSweep::AddGap(Place place, Gaps::node_type node) {
  const std::pair<std::int64_t, Place> gap = {BytesOf(place), place};
  if (node.empty()) {
    gaps_.insert(gap);
    return;
  }
  node.value() = gap;
  gaps_.insert(std::move(node));
}

// While a block is live, its item's offset is the number of its place.
void TimeSweep::Begin(Number item) {
  const std::int64_t bytes = items_[item].bytes;
  Gaps::node_type node = gaps_.extract(gaps_.lower_bound({bytes, 0}));
  const auto [room, place] = node.value();
  const std::int64_t end = nodes_[place].begin + bytes;
  items_[item].offset = place;
  extent_ = std::max(extent_, end);
  if (room == bytes) return;
  AddGap(Insert(end, place, nodes_[place].behind), std::move(node));
}

void TimeSweep::End(Number item) {
  auto place = static_cast<Place>(items_[item].offset);
  items_[item].offset = nodes_[place].begin;
  const Place behind = nodes_[place].behind, before = nodes_[place].before;
  Gaps::node_type node = Take(behind);
  if (!node.empty()) Remove(behind);
  if (Gaps::node_type joined = Take(before); !joined.empty()) {
    Remove(place);
    place = before;
    node = std::move(joined);
  }
  AddGap(place, std::move(node));
}

}  // namespace frugal
