#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/conv/resample.h"

namespace frugal {
namespace eigen {
namespace {

// body(row) in parallel for the N H rows of the small image, `elements` of the large one in each.
template <class Body>
void ForEachRow(const Shape& small, std::int64_t factor, const Body& body) {
  const std::int64_t elements = small[2] * small[3] * factor * factor;
  ParallelFor(small[0] * small[1], RowsPerChunk(elements), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

// One row of x becomes `factor` equal rows of y.
template <class T>
void Repeat(const T* x, std::int64_t width, std::int64_t channels, std::int64_t factor, T* y) {
  T* out = y;
  for (std::int64_t w = 0; w < width; ++w) {
    for (std::int64_t r = 0; r < factor; ++r, out += channels) {
      std::copy_n(x + w * channels, channels, out);
    }
  }
  const std::int64_t row = width * factor * channels;
  for (std::int64_t r = 1; r < factor; ++r) std::copy_n(y, row, y + r * row);
}

// The transpose of Repeat: sums `factor` rows of dy into one of dx.
template <class T>
void Collect(const T* dy, std::int64_t width, std::int64_t channels, std::int64_t factor, T* dx) {
  std::fill_n(dx, width * channels, T{0});
  const T* in = dy;
  for (std::int64_t r = 0; r < factor; ++r) {
    for (std::int64_t w = 0; w < width * factor; ++w, in += channels) {
      T* out = dx + w / factor * channels;
#pragma omp simd
      for (std::int64_t c = 0; c < channels; ++c) out[c] += in[c];
    }
  }
}

}  // namespace
}  // namespace eigen

void EigenResampleKernels::NearestForward(std::int64_t factor, const Tensor& x, const Tensor& y) {
  const std::int64_t width = x.shape()[2];
  const std::int64_t channels = x.shape()[3];
  const std::int64_t row_size = width * channels;
  eigen::WithFloating("upsample nearest", x.dtype(), [&]<class T>() {
    eigen::ForEachRow(x.shape(), factor, [&](std::int64_t row) {
      eigen::Repeat(static_cast<const T*>(x.data<T>()) + row * row_size, width, channels, factor,
                    y.data<T>() + row * row_size * factor * factor);
    });
  });
}

void EigenResampleKernels::NearestBackward(std::int64_t factor, const Tensor& dy,
                                           const Tensor& dx) {
  const std::int64_t width = dx.shape()[2];
  const std::int64_t channels = dx.shape()[3];
  const std::int64_t row_size = width * channels;
  eigen::WithFloating("upsample nearest backward", dy.dtype(), [&]<class T>() {
    eigen::ForEachRow(dx.shape(), factor, [&](std::int64_t row) {
      eigen::Collect(static_cast<const T*>(dy.data<T>()) + row * row_size * factor * factor, width,
                     channels, factor, dx.data<T>() + row * row_size);
    });
  });
}

}  // namespace frugal
