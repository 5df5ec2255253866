#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/norm/norm.h"
#include "sdk/backend/eigen/norm/normalize_columns.h"

namespace frugal {
namespace eigen {
namespace {

template <class T>
double RowMean(const T* x, std::int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) sum += static_cast<double>(x[j]);
  return sum / static_cast<double>(count);
}

template <class T>
double RowVariance(const T* x, double mean, std::int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) {
    const double deviation = static_cast<double>(x[j]) - mean;
    sum += deviation * deviation;
  }
  return sum / static_cast<double>(count);
}

template <class T>
void ForwardRow(const T* x, T mean, T rstd, const T* weight, const T* bias, std::int64_t count,
                T* y) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) y[j] = (x[j] - mean) * rstd;
  if (weight != nullptr) {
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) y[j] *= weight[j];
  }
  if (bias != nullptr) {
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) y[j] += bias[j];
  }
}

template <class T>
void Forward(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
             const Tensor& y, const Tensor& mean, const Tensor& rstd) {
  const std::int64_t count = x.shape().back();
  const T* scale = DataOrNull<T>(weight);
  const T* shift = DataOrNull<T>(bias);
  ParallelFor(x.shape().RowCount(), RowsPerChunk(count), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* in = x.data<T>() + row * count;
      const double center = RowMean(in, count);
      const auto rounded_center = static_cast<T>(center);
      const auto inverse = static_cast<T>(1 / std::sqrt(RowVariance(in, center, count) + epsilon));
      mean.data<T>()[row] = rounded_center;
      rstd.data<T>()[row] = inverse;
      ForwardRow(in, rounded_center, inverse, scale, shift, count, y.data<T>() + row * count);
    }
  });
}

// dx = rstd (g - mean(g) - xhat mean(g xhat)) with g = dy weight
template <bool kWeighted, class T>
void BackwardRow(const T* dy, const T* x, T mean, T rstd, [[maybe_unused]] const T* weight,
                 std::int64_t count, T* dx) {
  const auto gradient = [=](std::int64_t j) {
    if constexpr (kWeighted) return dy[j] * weight[j];
    return dy[j];
  };
  double sum = 0;
  double product_sum = 0;
#pragma omp simd reduction(+ : sum, product_sum)
  for (std::int64_t j = 0; j < count; ++j) {
    const T g = gradient(j);
    sum += static_cast<double>(g);
    product_sum += static_cast<double>(g * ((x[j] - mean) * rstd));
  }
  const auto offset = static_cast<T>(sum / static_cast<double>(count));
  const auto slope = static_cast<T>(product_sum / static_cast<double>(count));
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    dx[j] = rstd * (gradient(j) - offset - (x[j] - mean) * rstd * slope);
  }
}

template <class T>
void BackwardData(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                  const Tensor& weight, const Tensor& dx) {
  const std::int64_t count = x.shape().back();
  const T* scale = DataOrNull<T>(weight);
  ParallelFor(x.shape().RowCount(), RowsPerChunk(count), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto row_kernel = scale != nullptr ? BackwardRow<true, T> : BackwardRow<false, T>;
      row_kernel(dy.data<T>() + row * count, x.data<T>() + row * count, mean.data<T>()[row],
                 rstd.data<T>()[row], scale, count, dx.data<T>() + row * count);
    }
  });
}

template <class T>
void BackwardWeight(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                    const Tensor& dweight, const Tensor& dbias, bool accumulate) {
  const std::int64_t columns = x.shape().back();
  T* scale_gradient = DataOrNull<T>(dweight);
  T* shift_gradient = DataOrNull<T>(dbias);
  const auto add_row = [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
    const T* g = dy.data<T>() + row * columns + first;
    const T* in = x.data<T>() + row * columns + first;
    const T center = mean.data<T>()[row];
    const T inverse = rstd.data<T>()[row];
    double* products = sums + kColumnBlock;
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) {
      sums[j] += static_cast<double>(g[j]);
      products[j] += static_cast<double>(g[j] * ((in[j] - center) * inverse));
    }
  };
  SumColumns<2>(x.shape().RowCount(), columns, add_row,
                [&](std::int64_t column, const std::array<double, 2>& sums) {
                  StoreSum(shift_gradient, column, sums[0], accumulate);
                  StoreSum(scale_gradient, column, sums[1], accumulate);
                });
}

}  // namespace
}  // namespace eigen

void EigenNormKernels::LayerForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                    double epsilon, const Tensor& y, const Tensor& mean,
                                    const Tensor& rstd) {
  eigen::WithFloating("layer norm", x.dtype(), [&]<class T>() {
    eigen::Forward<T>(x, weight, bias, epsilon, y, mean, rstd);
  });
}

std::int64_t EigenNormKernels::LayerBackwardScratch(const Tensor& /*x*/) const { return 0; }

void EigenNormKernels::LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                     const Tensor& rstd, const Tensor& weight, const Tensor& dx,
                                     const Tensor& dweight, const Tensor& dbias, bool accumulate,
                                     void* /*scratch*/) {
  eigen::WithFloating("layer norm backward", x.dtype(), [&]<class T>() {
    // The weight's gradient first: dx may take the place of dy.
    if (dweight || dbias) {
      eigen::BackwardWeight<T>(dy, x, mean, rstd, dweight, dbias, accumulate);
    }
    if (dx) eigen::BackwardData<T>(dy, x, mean, rstd, weight, dx);
  });
}

}  // namespace frugal
