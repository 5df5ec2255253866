#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/matmul/column_sums.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace eigen {
namespace {

template <class T>
double MeanSquare(const T* x, std::int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) {
    const auto value = static_cast<double>(x[j]);
    sum += value * value;
  }
  return sum / static_cast<double>(count);
}

template <class T>
void ForwardRow(const T* x, T rstd, const T* weight, std::int64_t count, T* y) {
  if (weight == nullptr) {
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) y[j] = x[j] * rstd;
  } else {
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) y[j] = x[j] * rstd * weight[j];
  }
}

template <class T>
void Forward(const Tensor& x, const T* weight, double epsilon, const Tensor& y,
             const Tensor& rstd) {
  const std::int64_t count = x.shape().back();
  ParallelFor(x.shape().RowCount(), RowsPerChunk(count), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* in = x.data<T>() + row * count;
      const auto inverse = static_cast<T>(1 / std::sqrt(MeanSquare(in, count) + epsilon));
      rstd.data<T>()[row] = inverse;
      ForwardRow(in, inverse, weight, count, y.data<T>() + row * count);
    }
  });
}

// dx = rstd (g - xhat mean(g xhat)) with g = dy weight and xhat = x rstd
template <bool kWeighted, class T>
void BackwardRow(const T* dy, const T* x, T rstd, [[maybe_unused]] const T* weight,
                 std::int64_t count, T* dx) {
  const auto gradient = [=](std::int64_t j) {
    if constexpr (kWeighted) return dy[j] * weight[j];
    return dy[j];
  };
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) {
    sum += static_cast<double>(gradient(j) * (x[j] * rstd));
  }
  const auto slope = static_cast<T>(sum / static_cast<double>(count));
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    dx[j] = rstd * (gradient(j) - x[j] * rstd * slope);
  }
}

template <class T>
void BackwardData(const Tensor& dy, const Tensor& x, const Tensor& rstd, const T* weight,
                  const Tensor& dx) {
  const std::int64_t count = x.shape().back();
  const auto row_kernel = weight != nullptr ? BackwardRow<true, T> : BackwardRow<false, T>;
  ParallelFor(x.shape().RowCount(), RowsPerChunk(count), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      row_kernel(dy.data<T>() + row * count, x.data<T>() + row * count, rstd.data<T>()[row], weight,
                 count, dx.data<T>() + row * count);
    }
  });
}

template <class T>
void BackwardWeight(const Tensor& dy, const Tensor& x, const Tensor& rstd, T* dweight,
                    bool accumulate) {
  const std::int64_t columns = x.shape().back();
  const auto add_row = [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
    const T* g = dy.data<T>() + row * columns + first;
    const T* in = x.data<T>() + row * columns + first;
    const T inverse = rstd.data<T>()[row];
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) {
      sums[j] += static_cast<double>(g[j] * (in[j] * inverse));
    }
  };
  SumColumns<1>(x.shape().RowCount(), columns, add_row,
                [&](std::int64_t column, const std::array<double, 1>& sum) {
                  const double before = accumulate ? static_cast<double>(dweight[column]) : 0.0;
                  dweight[column] = static_cast<T>(before + sum[0]);
                });
}

}  // namespace
}  // namespace eigen

void EigenSequenceKernels::RmsForward(const Tensor& x, const Tensor& weight, double epsilon,
                                      const Tensor& y, const Tensor& rstd) {
  eigen::WithFloating("rms norm", x.dtype(), [&]<class T>() {
    eigen::Forward<T>(x, eigen::DataOrNull<T>(weight), epsilon, y, rstd);
  });
}

std::int64_t EigenSequenceKernels::RmsBackwardScratch(const Tensor& /*x*/) const { return 0; }

void EigenSequenceKernels::RmsBackward(const Tensor& dy, const Tensor& x, const Tensor& rstd,
                                       const Tensor& weight, const Tensor& dx,
                                       const Tensor& dweight, bool accumulate, void* /*scratch*/) {
  eigen::WithFloating("rms norm backward", x.dtype(), [&]<class T>() {
    // The weight's gradient first: dx may take the place of dy.
    if (dweight) eigen::BackwardWeight<T>(dy, x, rstd, dweight.data<T>(), accumulate);
    if (dx) eigen::BackwardData<T>(dy, x, rstd, eigen::DataOrNull<T>(weight), dx);
  });
}

}  // namespace frugal
