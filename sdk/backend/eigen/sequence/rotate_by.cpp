#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace eigen {
namespace {

template <class T>
void RotatePairs(const T* x, const T* cosine, const T* sine, T sign, std::int64_t pairs, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < pairs; ++i) {
    const T s = sign * sine[i];
    const T first = x[2 * i] * cosine[i] - x[2 * i + 1] * s;
    y[2 * i + 1] = x[2 * i + 1] * cosine[i] + x[2 * i] * s;
    y[2 * i] = first;
  }
}

// One pair of all samples, `stride` elements apart.
template <class T>
void AnglePair(const T* dy, const T* x, std::int64_t samples, std::int64_t stride, T& dcosine,
               T& dsine) {
  double along = 0, across = 0;
  for (std::int64_t n = 0; n < samples; ++n, dy += stride, x += stride) {
    along += static_cast<double>(dy[0] * x[0] + dy[1] * x[1]);
    across += static_cast<double>(dy[1] * x[0] - dy[0] * x[1]);
  }
  dcosine = static_cast<T>(along);
  dsine = static_cast<T>(across);
}

}  // namespace
}  // namespace eigen

void EigenSequenceKernels::RotateBy(const Tensor& x, const Tensor& cosine, const Tensor& sine,
                                    bool transpose, const Tensor& y) {
  const std::int64_t pairs = cosine.size();  // of one sample
  if (pairs == 0) return;
  eigen::WithFloating("rotation", x.dtype(), [&]<class T>() {
    const T sign = transpose ? T{-1} : T{1};
    for (std::int64_t n = 0; n < x.shape()[0]; ++n) {
      eigen::ParallelFor(pairs, eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t at = 2 * (n * pairs + begin);
        eigen::RotatePairs(x.data<T>() + at, cosine.data<T>() + begin, sine.data<T>() + begin, sign,
                           end - begin, y.data<T>() + at);
      });
    }
  });
}

void EigenSequenceKernels::RotateByBackwardAngles(const Tensor& dy, const Tensor& x,
                                                  const Tensor& dcosine, const Tensor& dsine) {
  const std::int64_t pairs = dcosine.size();
  eigen::WithFloating("rotation backward", x.dtype(), [&]<class T>() {
    eigen::ParallelFor(pairs, eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        eigen::AnglePair(dy.data<T>() + 2 * i, x.data<T>() + 2 * i, x.shape()[0], 2 * pairs,
                         dcosine.data<T>()[i], dsine.data<T>()[i]);
      }
    });
  });
}

}  // namespace frugal
