#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/common/row_exponentials.h"
#include "sdk/backend/eigen/loss/loss.h"

namespace frugal {
namespace eigen {
namespace {

template <class T>
void SoftmaxRow(const T* x, std::int64_t count, T* y) {
  const T largest = RowMaximum(x, count);
  double sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const T value = std::exp(x[j] - largest);
    y[j] = value;
    sum += static_cast<double>(value);
  }
  const auto share = static_cast<T>(1 / sum);
  for (std::int64_t j = 0; j < count; ++j) y[j] *= share;
}

template <class T>
void LogSoftmaxRow(const T* x, std::int64_t count, T* y) {
  const T largest = RowMaximum(x, count);
  double sum = 0;
  for (std::int64_t j = 0; j < count; ++j) sum += static_cast<double>(std::exp(x[j] - largest));
  const auto logarithm = static_cast<T>(std::log(sum));
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) y[j] = x[j] - largest - logarithm;
}

// dx = y (dy - sum(dy y))
template <class T>
void SoftmaxGradientRow(const T* dy, const T* y, std::int64_t count, T* dx) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) sum += static_cast<double>(dy[j] * y[j]);
  const auto middle = static_cast<T>(sum);
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) dx[j] = y[j] * (dy[j] - middle);
}

// dx = dy - exp(y) sum(dy)
template <class T>
void LogSoftmaxGradientRow(const T* dy, const T* y, std::int64_t count, T* dx) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) sum += static_cast<double>(dy[j]);
  const auto total = static_cast<T>(sum);
  for (std::int64_t j = 0; j < count; ++j) dx[j] = dy[j] - std::exp(y[j]) * total;
}

// body(offset of the row, its length)
template <class Body>
void ForEachRow(const Tensor& x, const Body& body) {
  const std::int64_t count = x.shape().back();
  if (count == 0) return;
  ParallelFor(x.shape().RowCount(), RowsPerChunk(count), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) body(row * count, count);
  });
}

}  // namespace
}  // namespace eigen

void EigenLossKernels::SoftmaxForward(const Tensor& x, bool logarithm, const Tensor& y) {
  eigen::WithFloating("softmax", x.dtype(), [&]<class T>() {
    const auto row_kernel = logarithm ? eigen::LogSoftmaxRow<T> : eigen::SoftmaxRow<T>;
    eigen::ForEachRow(x, [&](std::int64_t at, std::int64_t count) {
      row_kernel(x.data<T>() + at, count, y.data<T>() + at);
    });
  });
}

void EigenLossKernels::SoftmaxBackward(const Tensor& dy, const Tensor& y, bool logarithm,
                                       const Tensor& dx) {
  eigen::WithFloating("softmax backward", dy.dtype(), [&]<class T>() {
    const auto row_kernel =
        logarithm ? eigen::LogSoftmaxGradientRow<T> : eigen::SoftmaxGradientRow<T>;
    eigen::ForEachRow(dy, [&](std::int64_t at, std::int64_t count) {
      row_kernel(dy.data<T>() + at, y.data<T>() + at, count, dx.data<T>() + at);
    });
  });
}

}  // namespace frugal
