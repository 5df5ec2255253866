#include "sdk/memory/canonical_search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>

namespace frugal {
namespace {

// The times, among as many as there are blocks, at which something ends before the next begins.
std::vector<std::size_t> TimesThatBound(std::span<const TimedBlock> blocks) {
  std::vector<bool> ends(blocks.size() + 1);
  for (const TimedBlock& block : blocks) ends[block.last] = true;
  std::vector<std::size_t> times;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (ends[i + 1]) times.push_back(i);
  }
  return times;
}

}  // namespace

CanonicalSearch::CanonicalSearch(std::span<const TimedBlock> blocks, std::int64_t most_bytes)
    : most_bytes_(most_bytes), item_count_(blocks.size()) {
  const std::vector<std::size_t> times = TimesThatBound(blocks);
  const auto number_of = [&](std::size_t time) {
    return static_cast<Number>(std::ranges::lower_bound(times, time) - times.begin());
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const TimedBlock& block = blocks[i];
    if (block.bytes > 0) {
      blocks_.push_back({block.bytes, number_of(block.first), number_of(block.last), i, 0});
    }
  }
  times_before_.resize(times.size());
  for (const Block& block : blocks_) {
    for (Number i = block.begin; i < block.end; ++i) times_before_[i].unplaced += block.bytes;
  }
  for (Block& block : blocks_) {
    for (Number i = block.begin; i < block.end; ++i) {
      block.most_live = std::max(block.most_live, times_before_[i].unplaced);
    }
  }
}

void CanonicalSearch::Begin(First first) {
  times_ = times_before_;
  placed_.clear();
  changed_offsets_.clear();
  changed_floors_.clear();
  const auto rank = [first](const Block& block) {
    const auto length = static_cast<std::int64_t>(block.end - block.begin);
    const std::int64_t area = block.bytes * length;
    switch (first) {
      case First::kMostContended:
        return std::tuple(-block.most_live, -area, -length, block.item);
      case First::kLargestArea:
        return std::tuple(-area, -length, -block.bytes, block.item);
      case First::kLargest:
        return std::tuple(-block.bytes, -length, -area, block.item);
      case First::kLongest:
        break;
    }
    return std::tuple(-length, -block.bytes, -area, block.item);
  };
  std::ranges::sort(blocks_, {}, rank);
  offsets_.assign(blocks_.size(), 0);
  unplaced_.resize(blocks_.size());
  std::iota(unplaced_.begin(), unplaced_.end(), Number{0});
}

std::vector<std::int64_t> CanonicalSearch::Find(First first, std::int64_t most_placed) {
  Begin(first);
  left_ = most_placed;
  for (std::size_t from = 0; !unplaced_.empty();) {
    if (PlaceNext(from)) {
      from = 0;
      continue;
    }
    if (placed_.empty() || left_ <= 0) return {};
    const Placed last = TakeBack();
    // Whatever else is placed first, this one can lie where it lay.
    from = last.is_topmost ? unplaced_.size() : last.place + 1;
  }
  std::vector<std::int64_t> offsets(item_count_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) offsets[blocks_[i].item] = offsets_[i];
  return offsets;
}

// Tries the unplaced from the given one on, none below what was placed last, and none so high that
// another would fit below it.
bool CanonicalSearch::PlaceNext(std::size_t from) {
  std::int64_t least_end = std::numeric_limits<std::int64_t>::max();
  for (const Number block : unplaced_) {
    if (offsets_[block] >= least_end) break;
    least_end = std::min(least_end, offsets_[block] + blocks_[block].bytes);
  }
  for (std::size_t place = from; place < unplaced_.size() && left_ > 0; ++place) {
    const Number block = unplaced_[place];
    if (offsets_[block] >= least_end) return false;
    if (!placed_.empty() && IsBefore(block, placed_.back().block)) continue;
    if (Place(place)) return true;
    TakeBack();
  }
  return false;
}

// Returns false where something would end too high.
bool CanonicalSearch::Place(std::size_t place) {
  --left_;
  const Number placed = unplaced_[place];
  const Block& block = blocks_[placed];
  const std::int64_t top = offsets_[placed] + block.bytes;
  placed_.push_back({placed, place, changed_offsets_.size(), changed_floors_.size(), true});
  raised_.clear();
  kept_.clear();
  Number raised_begin = block.begin, raised_end = block.end;
  for (const Number other : unplaced_) {
    if (other == placed) continue;
    const bool overlap = Overlap(placed, other);
    if (overlap) placed_.back().is_topmost = false;
    if (!overlap || offsets_[other] >= top) {
      kept_.push_back(other);
      continue;
    }
    changed_offsets_.push_back({other, offsets_[other]});
    offsets_[other] = top;
    raised_.push_back(other);
    raised_begin = std::min(raised_begin, blocks_[other].begin);
    raised_end = std::max(raised_end, blocks_[other].end);
  }
  std::ranges::sort(raised_);
  unplaced_.clear();
  std::ranges::merge(kept_, raised_, std::back_inserter(unplaced_),
                     [this](Number one, Number other) { return IsBefore(one, other); });
  for (Number time = block.begin; time < block.end; ++time) {
    times_[time].unplaced -= block.bytes;
    SetFloor(time, top);
  }
  RaiseFloors(raised_begin, raised_end);
  return std::ranges::all_of(times_, [&](const Time& time) {
    return std::max(time.floor, offsets_[placed]) + time.unplaced <= most_bytes_;
  });
}

// A floor is as high as the lowest that the unplaced can lie at that time.
void CanonicalSearch::RaiseFloors(Number begin, Number end) {
  next_lower_.resize(times_.size() + 1);
  std::iota(next_lower_.begin() + begin, next_lower_.begin() + end + 1, begin);
  const auto find = [this](Number time) {
    while (next_lower_[time] != time) time = next_lower_[time] = next_lower_[next_lower_[time]];
    return time;
  };
  for (const Number block : unplaced_) {
    const Number last = std::min(blocks_[block].end, end);
    for (Number time = std::max(blocks_[block].begin, begin); time < last;) {
      time = find(time);
      if (time >= last) break;
      SetFloor(time, offsets_[block]);
      next_lower_[time] = time + 1;
    }
    if (find(begin) >= end) return;
  }
}

void CanonicalSearch::SetFloor(Number time, std::int64_t floor) {
  if (floor <= times_[time].floor) return;
  changed_floors_.push_back({time, times_[time].floor});
  times_[time].floor = floor;
}

CanonicalSearch::Placed CanonicalSearch::TakeBack() {
  const Placed last = placed_.back();
  placed_.pop_back();
  const Block& block = blocks_[last.block];
  for (Number time = block.begin; time < block.end; ++time) times_[time].unplaced += block.bytes;
  for (; changed_floors_.size() > last.floors_before; changed_floors_.pop_back()) {
    times_[changed_floors_.back().number].floor = changed_floors_.back().before;
  }
  for (; changed_offsets_.size() > last.offsets_before; changed_offsets_.pop_back()) {
    offsets_[changed_offsets_.back().number] = changed_offsets_.back().before;
  }
  unplaced_.push_back(last.block);
  std::ranges::sort(unplaced_, [this](Number one, Number other) { return IsBefore(one, other); });
  return last;
}

}  // namespace frugal
