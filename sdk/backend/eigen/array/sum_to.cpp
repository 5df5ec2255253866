#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/backend/eigen/array/strided_loop.h"
#include "sdk/backend/eigen/matmul/column_sums.h"

namespace frugal {
namespace eigen {
namespace {

using SumLoop = StridedLoop<1>;  // x

// The axes of x, split by what becomes of them. y holds the kept ones in order.
struct Reduction {
  SumLoop kept;
  SumLoop reduced;
  bool keeps_last = false;  // whether the innermost axis is kept
};

Reduction Arrange(const Shape& x, const Shape& y) {
  const Steps steps = RepeatingSteps(x);
  Reduction r;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (x[i] == 1) continue;
    r.keeps_last = y[i] != 1;
    (r.keeps_last ? r.kept : r.reduced).Add({x[i], {steps[i]}});
  }
  return r;
}

template <class T>
double SumRun(const T* x, std::int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

// The sum of elements [begin, end) of a box whose innermost runs are contiguous.
template <class T>
double SumPart(const SumLoop& box, const T* x, std::int64_t begin, std::int64_t end) {
  const std::int64_t run = box.FromLast(0).extent;
  const SumLoop outer = box.Outer();
  SumLoop::Position at(outer, outer.rank(), begin / run);
  double sum = 0;
  for (std::int64_t first = begin % run; begin < end; first = 0, at.Advance()) {
    const std::int64_t count = std::min(run - first, end - begin);
    sum += SumRun(x + at.offsets()[0] + first, count);
    begin += count;
  }
  return sum;
}

// The innermost axis is summed over: every element of y is the sum of a box of contiguous runs.
template <class T>
void SumBoxes(const Reduction& r, const T* x, double factor, T* y) {
  const std::int64_t count = r.reduced.Count();
  ParallelFor(r.kept.Count(), RowsPerChunk(count), [&](std::int64_t begin, std::int64_t end) {
    SumLoop::Position at(r.kept, r.kept.rank(), begin);
    for (std::int64_t i = begin; i < end; ++i, at.Advance()) {
      const auto part = [&](std::int64_t first, std::int64_t last) {
        return SumPart(r.reduced, x + at.offsets()[0], first, last);
      };
      const double sum = count <= kChunk ? part(0, count) : ParallelSum(count, kChunk, part);
      y[i] = static_cast<T>(factor * sum);
    }
  });
}

// y[0..columns) = the sums down the columns of the box of rows, at most kColumnBlock of them.
template <class T>
void SumColumnBlock(const SumLoop& rows, const T* x, std::int64_t columns, double factor, T* y) {
  SumColumns<1>(
      rows.Count(), columns,
      [&](std::int64_t row, std::int64_t /*first*/, std::int64_t count, double* sums) {
        const T* in = x + rows.At(row)[0];
#pragma omp simd
        for (std::int64_t j = 0; j < count; ++j) sums[j] += static_cast<double>(in[j]);
      },
      [&](std::int64_t column, const std::array<double, 1>& sum) {
        y[column] = static_cast<T>(factor * sum[0]);
      });
}

// The innermost axis is kept: sums down the columns, for every index of the outer kept axes. Few
// long columns are split over threads row by row, many short ones column block by column block.
template <class T>
void SumAllColumns(const Reduction& r, const T* x, double factor, T* y) {
  const SumLoop outer = r.kept.Outer();
  const std::int64_t columns = r.kept.FromLast(0).extent;
  const std::int64_t blocks = (columns + kColumnBlock - 1) / kColumnBlock;
  const std::int64_t work = r.reduced.Count() * std::min(columns, kColumnBlock);
  const auto sum_blocks = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % blocks * kColumnBlock;
      SumColumnBlock(r.reduced, x + outer.At(i / blocks)[0] + first,
                     std::min(kColumnBlock, columns - first), factor,
                     y + i / blocks * columns + first);
    }
  };
  const std::int64_t items = outer.Count() * blocks;
  if (work >= 8 * kChunk) return sum_blocks(0, items);
  ParallelFor(items, RowsPerChunk(work), sum_blocks);
}

}  // namespace
}  // namespace eigen

void EigenArrayKernels::SumTo(const Tensor& x, double factor, const Tensor& y) {
  eigen::WithFloating("sum", x.dtype(), [&]<class T>() {
    if (x.size() == 0) {
      // The sum of nothing; times the factor 1 / 0 of an empty mean it is not a number.
      std::fill_n(y.data<T>(), y.size(), static_cast<T>(factor * 0));
      return;
    }
    const eigen::Reduction r = eigen::Arrange(x.shape(), y.shape());
    if (r.keeps_last) {
      eigen::SumAllColumns<T>(r, x.data<T>(), factor, y.data<T>());
    } else {
      eigen::SumBoxes<T>(r, x.data<T>(), factor, y.data<T>());
    }
  });
}

}  // namespace frugal
