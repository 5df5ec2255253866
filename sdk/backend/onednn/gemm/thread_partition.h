#pragma once

#include <algorithm>
#include <cstdint>

#include "sdk/backend/backend.h"

namespace frugal::onednn {

struct Range {
  std::int64_t begin, count;
};

// body(range) for consecutive parts of a range
template <class Body>
void ForRanges(const Range& range, std::int64_t part, const Body& body) {
  const std::int64_t end = range.begin + range.count;
  for (std::int64_t begin = range.begin; begin < end; begin += part) {
    body(Range{begin, std::min(part, end - begin)});
  }
}

// Returns the size of parts of one size, in whole units, none above `most`.
inline std::int64_t EvenPart(std::int64_t count, std::int64_t most, std::int64_t unit) {
  const std::int64_t parts = (count + most - 1) / most;
  const std::int64_t part = (count + parts - 1) / parts;
  return (part + unit - 1) / unit * unit;
}

// A matrix in pieces, one for each thread: each thread copies what its piece needs for itself, also
// where another does the same, since what lies in another core's cache comes slower than that.
class ThreadPartition {
 public:
  // `count` rows or columns, in whole units but for the last.
  struct Side {
    std::int64_t count, unit;
    std::int64_t Units() const { return (count + unit - 1) / unit; }
  };

  // Chooses the grid whose largest piece costs least; cost takes the piece's units of rows and of
  // columns. Depends on ThreadCount().
  template <class Cost>
  ThreadPartition(const Side& rows, const Side& columns, const Cost& cost)
      : rows_(rows), columns_(columns) {
    const std::int64_t threads = ThreadCount();
    std::int64_t least = 0;
    for (std::int64_t i = threads; i >= 1; --i) {  // first those of long pieces of memory
      const std::int64_t down = std::min(i, rows.Units());
      const std::int64_t across = std::min(threads / i, columns.Units());
      const std::int64_t own = cost(Most(rows, down), Most(columns, across));
      if (i < threads && own >= least) continue;
      least = own;
      down_ = down;
      across_ = across;
    }
  }

  std::int64_t Pieces() const { return down_ * across_; }
  // Returns true where each piece has all rows, and no two have columns in common.
  bool IsSplitByColumns() const { return down_ == 1; }
  Range Rows(std::int64_t piece) const { return Share(rows_, piece / across_, down_); }
  Range Columns(std::int64_t piece) const { return Share(columns_, piece % across_, across_); }
  // These count rows and columns of the largest piece, in whole units.
  std::int64_t MostRows() const { return Most(rows_, down_) * rows_.unit; }
  std::int64_t MostColumns() const { return Most(columns_, across_) * columns_.unit; }

 private:
  static std::int64_t Most(const Side& side, std::int64_t shares) {
    return (side.Units() + shares - 1) / shares;
  }
  static Range Share(const Side& side, std::int64_t i, std::int64_t shares) {
    const std::int64_t begin = side.Units() * i / shares * side.unit;
    return {begin, std::min(side.count, side.Units() * (i + 1) / shares * side.unit) - begin};
  }

  Side rows_, columns_;
  std::int64_t down_ = 1, across_ = 1;
};

}  // namespace frugal::onednn
