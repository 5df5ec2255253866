#include "sdk/core/shape.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) : rank_(extents.size()) {
  if (rank_ > kMaxRank) {
    throw ShapeError({.where = "shape",
                      .required = "a tensor has at most 8 dimensions",
                      .given = std::to_string(rank_) + " were given",
                      .advice = "merge some of them"});
  }
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

std::int64_t Shape::ElementCount() const {
  if (std::ranges::find(extents(), 0) != extents().end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : extents()) {
    const bool overflows = __builtin_mul_overflow(count, extent, &count);
    if (!overflows && count <= kMostElements) continue;
    throw ShapeError({.where = "shape",
                      .required = "a tensor has at most 2^48 elements",
                      .given = ToString(*this) + " has more",
                      .advice = "use smaller layers, samples or batches"});
  }
  return count;
}

std::int64_t Shape::RowCount() const {
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis + 1 < rank_; ++axis) count *= extents_[axis];
  return count;
}

bool Shape::operator==(const Shape& other) const {
  return std::ranges::equal(extents(), other.extents());
}

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace frugal
