#pragma once

#include <algorithm>
#include <cstdint>

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/memory/allocator.h"

namespace frugal::onednn {

inline constexpr std::int64_t kMostParts = 64;
inline constexpr std::int64_t kSmallestPart = 4096;  // elements

// Returns how many rows a part has, so that there are at most `most_parts` and none but the last is
// smaller than kSmallestPart.
inline std::int64_t PartRows(std::int64_t rows, std::int64_t columns, std::int64_t most_parts) {
  const std::int64_t smallest = (kSmallestPart + columns - 1) / columns;
  return std::max(smallest, (rows + most_parts - 1) / most_parts);
}

// Rows of a matrix cut into at most kMostParts fixed parts, for sums over the rows: each part has a
// row of sums of its own in scratch, and those are added in order. The cut depends on the shape
// alone.
class PartialRows {
 public:
  PartialRows(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), part_rows_(PartRows(rows, columns, kMostParts)) {}

  std::int64_t count() const { return (rows_ + part_rows_ - 1) / part_rows_; }
  std::int64_t begin(std::int64_t part) const { return part * part_rows_; }
  std::int64_t rows(std::int64_t part) const {
    return std::min(rows_, begin(part + 1)) - begin(part);
  }
  std::int64_t columns() const { return columns_; }

  // Returns the bytes of `quantities` tables of [count(), columns] floats.
  std::int64_t Bytes(std::int64_t quantities) const { return quantities * TableStride() * 4; }
  std::int64_t TableStride() const { return RoundUpToAlignment(count() * columns_ * 4) / 4; }

  // body(part, first row, last row + 1), in parallel
  template <class Body>
  void ForEach(const Body& body) const {
    eigen::ParallelFor(count(), 1, [&](std::int64_t part, std::int64_t) {
      body(part, begin(part), begin(part) + rows(part));
    });
  }

  // to[c] = or += sum of the parts of column c, in their order
  void AddUp(const float* table, bool accumulate, float* to) const {
    const auto add = simd::SelectLoops().f32.norm.add_parts;
    eigen::ParallelFor(columns_, eigen::RowsPerChunk(count()),
                       [&](std::int64_t begin, std::int64_t end) {
                         add(table + begin, count(), columns_, end - begin, accumulate, to + begin);
                       });
  }

 private:
  std::int64_t rows_, columns_, part_rows_;
};

}  // namespace frugal::onednn
