#include <cstring>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/elementwise/elementwise.h"

namespace frugal {
namespace eigen {
namespace {

// The axes of y with their steps in x and y, after merging axes that stay neighbours and dropping
// those of extent 1.
struct Permutation {
  std::array<std::int64_t, Shape::kMaxRank> extent{};
  std::array<std::int64_t, Shape::kMaxRank> from{};  // step in x
  std::array<std::int64_t, Shape::kMaxRank> to{};    // step in y
  std::size_t rank = 0;

  // Elements that the axes from `first` on span, but for the axes a and b.
  std::int64_t CountWithout(std::size_t a, std::size_t b) const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < rank; ++i) count *= i == a || i == b ? 1 : extent[i];
    return count;
  }

  struct Offsets {
    std::int64_t from;
    std::int64_t to;
  };
  // Returns the offsets at which the run number `index` over all axes but a and b begins.
  Offsets At(std::int64_t index, std::size_t a, std::size_t b) const {
    Offsets at{0, 0};
    for (std::size_t i = rank; i-- > 0;) {
      if (i == a || i == b) continue;
      const std::int64_t coordinate = index % extent[i];
      index /= extent[i];
      at.from += coordinate * from[i];
      at.to += coordinate * to[i];
    }
    return at;
  }
};

Permutation Describe(const Shape& x, const Shape& axes) {
  std::array<std::int64_t, Shape::kMaxRank> x_step{};
  std::int64_t step = 1;
  for (std::size_t i = x.rank(); i-- > 0; step *= x[i]) x_step[i] = step;
  Permutation p;
  for (std::size_t i = 0; i < axes.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (x[axis] == 1) continue;
    if (p.rank > 0 && p.from[p.rank - 1] == x[axis] * x_step[axis]) {
      p.extent[p.rank - 1] *= x[axis];
      p.from[p.rank - 1] = x_step[axis];
    } else {
      p.extent[p.rank] = x[axis];
      p.from[p.rank++] = x_step[axis];
    }
  }
  step = 1;
  for (std::size_t i = p.rank; i-- > 0; step *= p.extent[i]) p.to[i] = step;
  return p;
}

// The last axis lies the same way in both: whole runs move.
void CopyRuns(const Permutation& p, std::int64_t element, const char* x, char* y) {
  const std::size_t last = p.rank - 1;
  const std::int64_t run = p.extent[last];
  ParallelFor(p.CountWithout(last, last), RowsPerChunk(run), [&](auto begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = p.At(i, last, last);
      std::memcpy(y + at.to * element, x + at.from * element,
                  static_cast<std::size_t>(run * element));
    }
  });
}

// Axis `inner`, innermost in x, is not the last of y: tiles small enough for the cache are
// transposed.
template <class Element>
void TransposeTiles(const Permutation& p, std::size_t inner, const Element* x, Element* y) {
  constexpr std::int64_t kTile = 32;
  const std::size_t last = p.rank - 1;
  const std::int64_t strips = (p.extent[inner] + kTile - 1) / kTile;
  const std::int64_t chunk = std::max<std::int64_t>(1, RowsPerChunk(p.extent[last]) / kTile);
  const auto turn_strip = [&](const Element* from, Element* to, std::int64_t count) {
    for (std::int64_t first = 0; first < p.extent[last]; first += kTile) {
      const std::int64_t end = std::min(first + kTile, p.extent[last]);
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = first; j < end; ++j) {
          to[i * p.to[inner] + j] = from[i + j * p.from[last]];
        }
      }
    }
  };
  ParallelFor(p.CountWithout(inner, last) * strips, chunk, [&](auto begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = p.At(i / strips, inner, last);
      const std::int64_t first = i % strips * kTile;
      turn_strip(x + at.from + first, y + at.to + first * p.to[inner],
                 std::min(kTile, p.extent[inner] - first));
    }
  });
}

template <class Element>
void PermuteAxes(const Permutation& p, const Tensor& x, const Tensor& y) {
  std::size_t inner = 0;
  while (p.from[inner] != 1) ++inner;
  TransposeTiles(p, inner, static_cast<const Element*>(x.raw()), static_cast<Element*>(y.raw()));
}

}  // namespace
}  // namespace eigen

void EigenElementwiseKernels::Permute(const Tensor& x, const Shape& axes, const Tensor& y) {
  if (x.size() == 0) return;
  const eigen::Permutation p = eigen::Describe(x.shape(), axes);
  const std::int64_t element = SizeOf(x.dtype());
  if (p.rank <= 1) return Copy(x, y);
  if (p.from[p.rank - 1] == 1) {
    return eigen::CopyRuns(p, element, static_cast<const char*>(x.raw()),
                           static_cast<char*>(y.raw()));
  }
  switch (element) {
    case 1:
      return eigen::PermuteAxes<std::uint8_t>(p, x, y);
    case 2:
      return eigen::PermuteAxes<std::uint16_t>(p, x, y);
    case 4:
      return eigen::PermuteAxes<std::uint32_t>(p, x, y);
    default:
      return eigen::PermuteAxes<std::uint64_t>(p, x, y);
  }
}

}  // namespace frugal
