#pragma once

#include "sdk/backend/eigen/matmul/column_sums.h"

// The elementwise half of batch and group norm, over a matrix with coefficients per column. Rows
// start `stride` elements apart.
namespace frugal::eigen {

// y = (x - center) * scale + shift
template <class T>
struct ForwardCoefficients {
  T center;
  T scale;
  T shift;
};

// dx = scale * dy - offset - (x - center) * slope
template <class T>
struct BackwardCoefficients {
  T center;
  T scale;
  T offset;
  T slope;
};

// The formula is in one place, so that backward finds the very value that a relu behind it saw
// forward.
template <class T>
T Normalized(T x, T center, T scale, T shift) {
  return (x - center) * scale + shift;
}

template <bool kRelu, class T>
void NormalizeRow(const T* x, const T* center, const T* scale, const T* shift, std::int64_t count,
                  T* y) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    const T value = Normalized(x[j], center[j], scale[j], shift[j]);
    y[j] = kRelu && value < T{0} ? T{0} : value;
  }
}

// coefficients(column) -> ForwardCoefficients
template <class T, class Coefficients>
void NormalizeColumns(const T* x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                      bool relu, const Coefficients& coefficients, T* y) {
  using Values = std::array<T, kColumnBlock>;
  ParallelFor(rows, RowsPerChunk(columns), [&](std::int64_t begin, std::int64_t end) {
    ForEachColumnBlock(columns, [&](std::int64_t first, std::int64_t count) {
      Values center;
      Values scale;
      Values shift;
      for (std::int64_t j = 0; j < count; ++j) {
        const ForwardCoefficients<T> c = coefficients(first + j);
        const auto i = static_cast<std::size_t>(j);
        center[i] = c.center;
        scale[i] = c.scale;
        shift[i] = c.shift;
      }
      const auto row_kernel = relu ? NormalizeRow<true, T> : NormalizeRow<false, T>;
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row * stride + first;
        row_kernel(x + at, center.data(), scale.data(), shift.data(), count, y + at);
      }
    });
  });
}

// The coefficients of one block of columns, column by column beside each other.
template <class T>
struct BackwardBlock {
  std::array<T, kColumnBlock> center;
  std::array<T, kColumnBlock> scale;
  std::array<T, kColumnBlock> offset;
  std::array<T, kColumnBlock> slope;

  void Set(std::int64_t j, const BackwardCoefficients<T>& c) {
    const auto i = static_cast<std::size_t>(j);
    center[i] = c.center;
    scale[i] = c.scale;
    offset[i] = c.offset;
    slope[i] = c.slope;
  }
};

template <class T>
void GradientRow(const T* dy, const T* x, const BackwardBlock<T>& c, std::int64_t count, T* dx) {
  const T* center = c.center.data();
  const T* scale = c.scale.data();
  const T* offset = c.offset.data();
  const T* slope = c.slope.data();
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    dx[j] = scale[j] * dy[j] - offset[j] - (x[j] - center[j]) * slope[j];
  }
}

// coefficients(column) -> BackwardCoefficients. gradient(row, first, count, room) -> where dy of
// columns [first, first + count) of a row lies: in place, or made in room for kColumnBlock of them.
template <class T, class Gradient, class Coefficients>
void GradientColumns(const Gradient& gradient, const T* x, std::int64_t rows, std::int64_t columns,
                     std::int64_t stride, const Coefficients& coefficients, T* dx) {
  ParallelFor(rows, RowsPerChunk(columns), [&](std::int64_t begin, std::int64_t end) {
    ForEachColumnBlock(columns, [&](std::int64_t first, std::int64_t count) {
      BackwardBlock<T> block;
      std::array<T, kColumnBlock> room;
      for (std::int64_t j = 0; j < count; ++j) block.Set(j, coefficients(first + j));
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row * stride + first;
        GradientRow<T>(gradient(row, first, count, room.data()), x + at, block, count, dx + at);
      }
    });
  });
}

template <class T>
T ValueOr(const T* values, std::int64_t index, double otherwise) {
  return values == nullptr ? static_cast<T>(otherwise) : values[index];
}

// destination[index] = or += value, where there is a destination.
template <class T>
void StoreSum(T* destination, std::int64_t index, double value, bool accumulate) {
  if (destination == nullptr) return;
  const double before = accumulate ? static_cast<double>(destination[index]) : 0.0;
  destination[index] = static_cast<T>(before + value);
}

}  // namespace frugal::eigen
