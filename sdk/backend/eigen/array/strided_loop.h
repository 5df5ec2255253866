#pragma once

#include <array>
#include <cstdint>

#include "sdk/backend/common/parallel.h"
#include "sdk/core/shape.h"

namespace frugal::eigen {

using Steps = std::array<std::int64_t, Shape::kMaxRank>;

// Elements from one index to the next along each axis of a row-major tensor; 0 where the extent
// is 1, so that the axis can be repeated.
inline Steps RepeatingSteps(const Shape& shape) {
  Steps steps{};
  std::int64_t step = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0; step *= shape[axis]) {
    steps[axis] = shape[axis] == 1 ? 0 : step;
  }
  return steps;
}

// Nested loops that walk through kTensors tensors at once. Axes are added from the outermost on;
// those of extent 1 are dropped and those that continue each other in all tensors become one, so
// that what is contiguous is one long innermost run.
template <std::size_t kTensors>
class StridedLoop {
 public:
  using Offsets = std::array<std::int64_t, kTensors>;  // elements, one for each tensor
  struct Axis {
    std::int64_t extent = 1;
    Offsets step{};
  };

  void Add(const Axis& axis) {
    if (axis.extent == 1) return;
    if (rank_ > 0 && Continues(axes_[rank_ - 1], axis)) {
      axes_[rank_ - 1].extent *= axis.extent;
      axes_[rank_ - 1].step = axis.step;
    } else {
      axes_[rank_++] = axis;
    }
  }

  // Moves an axis to the place next to the innermost one; the others keep their order.
  void MoveBeforeLast(std::size_t axis) {
    const auto begin = axes_.begin() + static_cast<std::ptrdiff_t>(axis);
    std::rotate(begin, begin + 1, axes_.begin() + static_cast<std::ptrdiff_t>(rank_ - 1));
  }

  // Returns the loop without its innermost axis.
  StridedLoop Outer() const {
    StridedLoop outer = *this;
    if (outer.rank_ > 0) --outer.rank_;
    return outer;
  }

  std::size_t rank() const { return rank_; }
  // Counted from the innermost axis, 0; of extent 1 beyond the outermost.
  Axis FromLast(std::size_t index) const {
    return index < rank_ ? axes_[rank_ - 1 - index] : Axis{};
  }
  const Axis& operator[](std::size_t index) const { return axes_[index]; }

  std::int64_t Count() const { return CountFrom(0, rank_); }

  // Returns the offsets of the element number `index`, in row-major order.
  Offsets At(std::int64_t index) const { return Position(*this, rank_, index).offsets(); }

  // Runs, in parallel, body(offsets, first, count) for pieces of at most `block` indices of the
  // axis FromLast(inner), for every index of the axes outside of it; the axes inside are the
  // body's.
  template <class Body>
  void ForEachPiece(std::size_t inner, std::int64_t block, const Body& body) const {
    const std::size_t outer_rank = rank_ > inner ? rank_ - 1 - inner : 0;
    const std::int64_t extent = FromLast(inner).extent;
    const std::int64_t pieces = (extent + block - 1) / block;
    const std::int64_t inside = rank_ > inner ? CountFrom(rank_ - inner, rank_) : Count();
    const std::int64_t work = std::min(block, extent) * inside;
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      Position at(*this, outer_rank, begin / pieces);
      std::int64_t piece = begin % pieces;
      for (std::int64_t i = begin; i < end; ++i) {
        body(at.offsets(), piece * block, std::min(block, extent - piece * block));
        if (++piece == pieces) {
          piece = 0;
          at.Advance();
        }
      }
    };
    ParallelFor(CountFrom(0, outer_rank) * pieces, RowsPerChunk(work), run);
  }

  // A place in the row-major walk over the first `rank` axes.
  class Position {
   public:
    Position(const StridedLoop& loop, std::size_t rank, std::int64_t index)
        : axes_(&loop.axes_), rank_(rank) {
      for (std::size_t i = rank; i-- > 0;) {
        const Axis& axis = (*axes_)[i];
        index_[i] = index % axis.extent;
        index /= axis.extent;
        Move(axis, index_[i]);
      }
    }
    const Offsets& offsets() const { return offsets_; }
    void Advance() {
      for (std::size_t i = rank_; i-- > 0;) {
        const Axis& axis = (*axes_)[i];
        Move(axis, 1);
        if (++index_[i] < axis.extent) return;
        Move(axis, -axis.extent);
        index_[i] = 0;
      }
    }

   private:
    void Move(const Axis& axis, std::int64_t steps) {
      for (std::size_t t = 0; t < kTensors; ++t) offsets_[t] += steps * axis.step[t];
    }

    const std::array<Axis, Shape::kMaxRank>* axes_;
    std::size_t rank_;
    Steps index_{};
    Offsets offsets_{};
  };

 private:
  static bool Continues(const Axis& outer, const Axis& inner) {
    bool continues = true;
    for (std::size_t t = 0; t < kTensors; ++t) {
      continues = continues && outer.step[t] == inner.extent * inner.step[t];
    }
    return continues;
  }

  std::int64_t CountFrom(std::size_t first, std::size_t last) const {
    std::int64_t count = 1;
    for (std::size_t i = first; i < last; ++i) count *= axes_[i].extent;
    return count;
  }

  std::array<Axis, Shape::kMaxRank> axes_{};
  std::size_t rank_ = 0;
};

}  // namespace frugal::eigen
