#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace frugal {

// Extents of a row-major tensor, outermost first. A plain value of at most kMaxRank dimensions.
//
// Letters used in comments throughout: N batch, C channels, H height, W width, S product of the
// spatial extents, T sequence, D features, M rows (all leading extents together).
// Images are channels-last in memory, [N, H, W, C]: see README, "How it computes".
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 8;
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);
  explicit Shape(std::span<const std::int64_t> extents);  // throws ShapeError above kMaxRank

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  std::int64_t& operator[](std::size_t axis) { return extents_[axis]; }
  std::int64_t back() const { return extents_[rank_ - 1]; }
  std::span<const std::int64_t> extents() const { return {extents_.data(), rank_}; }

  // 1 for rank 0. Throws ShapeError above kMostElements, so that sums of bytes cannot overflow.
  std::int64_t ElementCount() const;
  // Product of the extents before the last one: how many rows of back() elements there are.
  std::int64_t RowCount() const;

  bool operator==(const Shape& other) const;

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  std::size_t rank_ = 0;
};

std::string ToString(const Shape& shape);  // "[32, 28, 28, 1]"

}  // namespace frugal
