#include <Eigen/Core>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/backend/eigen/array/strided_loop.h"
#include "sdk/backend/eigen/matmul/gemm.h"

namespace frugal {
namespace eigen {
namespace {

// y [rows, columns] += over `inner`, for every matrix of the batch.
struct Products {
  StridedLoop<3> batch;  // a, b, y
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};

std::int64_t MatrixSize(const Shape& shape) { return shape.back() * shape[shape.rank() - 2]; }

Products Arrange(const Shape& a, bool transpose_a, const Shape& b, bool transpose_b,
                 const Shape& y) {
  const Steps a_steps = RepeatingSteps(a);
  const Steps b_steps = RepeatingSteps(b);
  const Steps y_steps = RepeatingSteps(y);
  Products p;
  for (std::size_t i = 0; i + 2 < y.rank(); ++i) {
    p.batch.Add({y[i], {a_steps[i], b_steps[i], y_steps[i]}});
  }
  p.rows = y[y.rank() - 2];
  p.columns = y.back();
  p.inner = transpose_a ? a[a.rank() - 2] : a.back();
  p.transpose_a = transpose_a;
  p.transpose_b = transpose_b;
  // One b for all, and the rows of a and y follow each other: this is one product.
  if (!transpose_a && MatrixSize(b) == b.ElementCount() && a.ElementCount() > 0 &&
      p.batch.Count() * MatrixSize(a) == a.ElementCount()) {
    p.rows *= p.batch.Count();
    p.batch = {};
  }
  return p;
}

// A matrix as it is stored, but with rows and columns as the product sees them.
template <class T>
struct Operand {
  const T* data;
  std::int64_t stride;
  bool transposed;

  // Rows [first, first + count) of `other` columns.
  Matrix<const T> Rows(std::int64_t first, std::int64_t count, std::int64_t other) const {
    if (transposed) return {data + first, other, count, stride};
    return {data + first * stride, count, other, stride};
  }
  // Columns [first, first + count) of `other` rows.
  Matrix<const T> Columns(std::int64_t first, std::int64_t count, std::int64_t other) const {
    if (transposed) return {data + first * stride, count, other, stride};
    return {data + first, other, count, stride};
  }
};

// c = a^T b^T = (b a)^T
template <class T>
void MultiplyBothTransposed(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const RowMajor, 0, Stride> left(a.data, a.rows, a.columns, Stride(a.stride));
  const Eigen::Map<const RowMajor, 0, Stride> right(b.data, b.rows, b.columns, Stride(b.stride));
  Eigen::Map<RowMajor, 0, Stride> out(c.data, c.rows, c.columns, Stride(c.stride));
  out.noalias() = left.transpose() * right.transpose();
}

template <class T>
void MultiplyPart(bool transpose_a, Matrix<const T> a, bool transpose_b, Matrix<const T> b,
                  Matrix<T> c) {
  if (transpose_a && transpose_b) return MultiplyBothTransposed(a, b, c);
  if (transpose_a) return MultiplyTransposedLeft(a, b, c, false);
  if (transpose_b) return MultiplyTransposedRight(a, b, c, false);
  Multiply(a, b, c, false);
}

// Few matrices are cut into blocks of their longer side, about sixteen pieces in all.
std::int64_t BlockSize(std::int64_t extent, std::int64_t batch) {
  const std::int64_t blocks = (15 + batch) / batch;
  return std::max<std::int64_t>(16, ((extent + blocks - 1) / blocks + 15) / 16 * 16);
}

template <class T>
void Compute(const Products& p, const T* a, const T* b, T* y) {
  const std::int64_t batch = p.batch.Count();
  const bool by_rows = p.rows >= p.columns;
  const std::int64_t extent = by_rows ? p.rows : p.columns;
  const std::int64_t block = BlockSize(extent, batch);
  const std::int64_t blocks = (extent + block - 1) / block;
  const std::int64_t work = std::min(block, extent) * (by_rows ? p.columns : p.rows) * p.inner;
  const auto multiply = [&](std::int64_t item) {
    const auto at = p.batch.At(item / blocks);
    const std::int64_t first = item % blocks * block;
    const std::int64_t count = std::min(block, extent - first);
    const Operand<T> left{a + at[0], p.transpose_a ? p.rows : p.inner, p.transpose_a};
    const Operand<T> right{b + at[1], p.transpose_b ? p.inner : p.columns, p.transpose_b};
    const std::int64_t row = by_rows ? first : 0;
    const std::int64_t rows = by_rows ? count : p.rows;
    const std::int64_t column = by_rows ? 0 : first;
    const std::int64_t columns = by_rows ? p.columns : count;
    MultiplyPart<T>(p.transpose_a, left.Rows(row, rows, p.inner), p.transpose_b,
                    right.Columns(column, columns, p.inner),
                    {y + at[2] + row * p.columns + column, rows, columns, p.columns});
  };
  ParallelFor(batch * blocks, RowsPerChunk(work / 4), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) multiply(item);
  });
}

}  // namespace
}  // namespace eigen

void EigenArrayKernels::BatchedProduct(const Tensor& a, bool transpose_a, const Tensor& b,
                                       bool transpose_b, const Tensor& y) {
  if (y.size() == 0) return;
  eigen::WithFloating("matrix product", y.dtype(), [&]<class T>() {
    const eigen::Products p =
        eigen::Arrange(a.shape(), transpose_a, b.shape(), transpose_b, y.shape());
    if (p.inner == 0) {
      std::fill_n(y.data<T>(), y.size(), T{0});
    } else {
      eigen::Compute<T>(p, a.data<T>(), b.data<T>(), y.data<T>());
    }
  });
}

}  // namespace frugal
