#include "sdk/memory/occupied_ranges.h"

#include <algorithm>
#include <bit>

namespace frugal {

OccupiedRanges::OccupiedRanges(std::size_t events)
    : leaves_(std::bit_ceil(std::max<std::size_t>(1, events))),
      throughout_(2 * leaves_),
      within_(2 * leaves_) {}

bool OccupiedRanges::Add(Ranges& ranges, ByteRange range) {
  const auto first = std::ranges::lower_bound(ranges, range.begin, {}, &ByteRange::end);
  if (first == ranges.end() || first->begin > range.end) {
    ranges.insert(first, range);
    return true;
  }
  if (first->begin <= range.begin && range.end <= first->end) return false;
  auto behind = first;
  for (; behind != ranges.end() && behind->begin <= range.end; ++behind) {
    range = {std::min(range.begin, behind->begin), std::max(range.end, behind->end)};
  }
  *first = range;
  ranges.erase(first + 1, behind);
  return true;
}

void OccupiedRanges::Take(std::size_t first, std::size_t last, const ByteRange& range) {
  const auto take = [&](std::size_t node) {
    if (!Add(throughout_[node], range)) return;
    while (node > 0 && Add(within_[node], range)) node /= 2;
  };
  std::size_t low = leaves_ + first;
  std::size_t high = leaves_ + last;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) take(low++);
    if (high % 2 == 1) take(--high);
  }
}

void OccupiedRanges::Find(std::size_t first, std::size_t last,
                          std::vector<ByteRange>& found) const {
  found.clear();
  const auto add = [&](const Ranges& ranges) {
    found.insert(found.end(), ranges.begin(), ranges.end());
  };
  std::size_t low = leaves_ + first;
  std::size_t high = leaves_ + last;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) add(within_[low++]);
    if (high % 2 == 1) add(within_[--high]);
  }
  // Nodes above those: of a node above the first or the last event only what is taken throughout.
  std::size_t left = (leaves_ + first) / 2;
  std::size_t right = (leaves_ + last - 1) / 2;
  for (; left > 0; left /= 2, right /= 2) {
    add(throughout_[left]);
    if (right != left) add(throughout_[right]);
  }
  std::ranges::sort(found, {}, &ByteRange::begin);
}

}  // namespace frugal
