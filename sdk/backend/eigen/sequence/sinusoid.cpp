#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace eigen {
namespace {

// body(row, index of its first angle) for rows of K angles
template <class Body>
void ForEachRow(const Tensor& angles, const Body& body) {
  const std::int64_t count = angles.shape().back();
  ParallelFor(angles.shape().RowCount(), RowsPerChunk(16 * count), [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row) body(row, row * count);
  });
}

}  // namespace
}  // namespace eigen

void EigenSequenceKernels::SineCosine(const Tensor& angles, bool cosine_first, const Tensor& y) {
  const std::int64_t count = angles.shape().back();
  eigen::WithFloating("sine and cosine", angles.dtype(), [&]<class T>() {
    eigen::ForEachRow(angles, [&](std::int64_t row, std::int64_t at) {
      T* const sine = y.data<T>() + 2 * row * count + (cosine_first ? count : 0);
      T* const cosine = y.data<T>() + 2 * row * count + (cosine_first ? 0 : count);
      for (std::int64_t i = 0; i < count; ++i) {
        const T angle = angles.data<T>()[at + i];
        sine[i] = std::sin(angle);
        cosine[i] = std::cos(angle);
      }
    });
  });
}

void EigenSequenceKernels::SineCosineBackward(const Tensor& dy, const Tensor& y, bool cosine_first,
                                              const Tensor& dangles) {
  const std::int64_t count = dangles.shape().back();
  eigen::WithFloating("sine and cosine backward", y.dtype(), [&]<class T>() {
    eigen::ForEachRow(dangles, [&](std::int64_t row, std::int64_t at) {
      const std::int64_t sine = 2 * row * count + (cosine_first ? count : 0);
      const std::int64_t cosine = 2 * row * count + (cosine_first ? 0 : count);
      const T *g = dy.data<T>(), *values = y.data<T>();
      for (std::int64_t i = 0; i < count; ++i) {
        dangles.data<T>()[at + i] =
            g[sine + i] * values[cosine + i] - g[cosine + i] * values[sine + i];
      }
    });
  });
}

}  // namespace frugal
