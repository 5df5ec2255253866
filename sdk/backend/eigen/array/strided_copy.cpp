#include <algorithm>
#include <cstdlib>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/backend/eigen/array/strided_loop.h"
#include "sdk/core/bfloat16.h"

namespace frugal {
namespace eigen {
namespace {

using CopyLoop = StridedLoop<2>;  // from, to

// The axes in the order in which `to` is written most evenly.
CopyLoop Arrange(const Shape& extents, const StridedView& from, const StridedView& to) {
  std::array<std::size_t, Shape::kMaxRank> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(extents.rank()),
                   [&](std::size_t a, std::size_t b) {
                     return std::abs(to.strides[a]) > std::abs(to.strides[b]);
                   });
  CopyLoop loop;
  for (std::size_t i = 0; i < extents.rank(); ++i) {
    const std::size_t axis = order[i];
    loop.Add({extents[axis], {from.strides[axis], to.strides[axis]}});
  }
  return loop;
}

template <class T>
T Sum(T a, T b) {
  return a + b;
}
BFloat16 Sum(BFloat16 a, BFloat16 b) {
  return BFloat16(static_cast<float>(a) + static_cast<float>(b));
}

template <bool kAdd, class T>
void Put(T value, T& destination) {
  if constexpr (kAdd) {
    destination = Sum(destination, value);
  } else {
    destination = value;
  }
}

template <bool kAdd, class T>
void PutRun(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
            std::int64_t count) {
  if (from_step == 1 && to_step == 1) {
    if constexpr (!kAdd) {
      std::copy_n(from, count, to);
    } else {
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i) to[i] = Sum(to[i], from[i]);
    }
  } else if (to_step == 1) {
    for (std::int64_t i = 0; i < count; ++i) Put<kAdd>(from[i * from_step], to[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) Put<kAdd>(from[i * from_step], to[i * to_step]);
  }
}

template <bool kAdd, class T>
void PutRuns(const CopyLoop& loop, const T* from, T* to) {
  const auto step = loop.FromLast(0).step;
  loop.ForEachPiece(0, kChunk, [&](const auto& at, std::int64_t first, std::int64_t count) {
    PutRun<kAdd>(from + at[0] + first * step[0], step[0], to + at[1] + first * step[1], step[1],
                 count);
  });
}

// The axis before the last is the innermost of `from`, the last one that of `to`: tiles small
// enough for the cache are transposed.
template <bool kAdd, class T>
void PutTiles(const CopyLoop& loop, const T* from, T* to) {
  constexpr std::int64_t kTile = 32;
  const CopyLoop::Axis rows = loop.FromLast(1);
  const CopyLoop::Axis columns = loop.FromLast(0);
  loop.ForEachPiece(1, kTile, [&](const auto& at, std::int64_t first, std::int64_t count) {
    const T* in = from + at[0] + first * rows.step[0];
    T* out = to + at[1] + first * rows.step[1];
    for (std::int64_t column = 0; column < columns.extent; column += kTile) {
      const std::int64_t width = std::min(kTile, columns.extent - column);
      for (std::int64_t i = 0; i < count; ++i) {
        PutRun<kAdd>(in + i * rows.step[0] + column * columns.step[0], columns.step[0],
                     out + i * rows.step[1] + column * columns.step[1], columns.step[1], width);
      }
    }
  });
}

template <bool kAdd, class T>
void Put(CopyLoop loop, const T* from, T* to) {
  if (loop.FromLast(0).step[0] != 1) {
    for (std::size_t axis = 0; axis + 1 < loop.rank(); ++axis) {
      if (loop[axis].step[0] != 1) continue;
      loop.MoveBeforeLast(axis);
      return PutTiles<kAdd>(loop, from, to);
    }
  }
  PutRuns<kAdd>(loop, from, to);
}

template <class Element>
void CopyElements(const CopyLoop& loop, const Tensor& from, std::int64_t from_offset,
                  const Tensor& to, std::int64_t to_offset) {
  Put<false>(loop, static_cast<const Element*>(from.raw()) + from_offset,
             static_cast<Element*>(to.raw()) + to_offset);
}

}  // namespace
}  // namespace eigen

void EigenArrayKernels::CopyStrided(const Shape& extents, const Tensor& from,
                                    const StridedView& from_box, const Tensor& to,
                                    const StridedView& to_box, bool accumulate) {
  if (extents.ElementCount() == 0) return;
  const eigen::CopyLoop loop = eigen::Arrange(extents, from_box, to_box);
  if (accumulate) {
    const auto add = [&]<class T>() {
      eigen::Put<true>(loop, static_cast<const T*>(from.data<T>()) + from_box.offset,
                       to.data<T>() + to_box.offset);
    };
    if (to.dtype() == DType::kBF16) return add.operator()<BFloat16>();
    return eigen::WithFloating("copy box", to.dtype(), add);
  }
  switch (SizeOf(to.dtype())) {
    case 1:
      return eigen::CopyElements<std::uint8_t>(loop, from, from_box.offset, to, to_box.offset);
    case 2:
      return eigen::CopyElements<std::uint16_t>(loop, from, from_box.offset, to, to_box.offset);
    case 4:
      return eigen::CopyElements<std::uint32_t>(loop, from, from_box.offset, to, to_box.offset);
    default:
      return eigen::CopyElements<std::uint64_t>(loop, from, from_box.offset, to, to_box.offset);
  }
}

}  // namespace frugal
