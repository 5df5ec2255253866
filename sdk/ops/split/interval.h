#pragma once

#include <algorithm>
#include <cstdint>

namespace frugal {

// Consecutive positions along an axis, from `begin` to before `end`.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool operator==(const Interval&) const = default;
};

// Returns what lies in both; an interval of size 0 where nothing does.
inline Interval Intersect(const Interval& a, const Interval& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// Returns what of an axis belongs to device `index` of `parts`: with c = ceil(extent / parts), the
// positions from index c to before (index + 1) c. The last parts may be smaller, or empty.
inline Interval SplitInterval(std::int64_t extent, int parts, int index) {
  const std::int64_t each = (extent + parts - 1) / parts;
  return {std::min(extent, index * each), std::min(extent, (index + 1) * each)};
}

// A rectangle of the two axes along which a tensor is split.
struct Box {
  Interval rows;
  Interval columns;

  std::int64_t area() const { return empty() ? 0 : rows.size() * columns.size(); }
  bool empty() const { return rows.empty() || columns.empty(); }
  bool operator==(const Box&) const = default;
};

inline Box Intersect(const Box& a, const Box& b) {
  return {Intersect(a.rows, b.rows), Intersect(a.columns, b.columns)};
}

}  // namespace frugal
