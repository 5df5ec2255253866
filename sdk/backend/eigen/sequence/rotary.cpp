#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace eigen {
namespace {

// Rotates `pairs` pairs; `sign` is -1 for the inverse. Pair i is (x[i], x[i + pairs]).
template <class T>
void RotateHalves(const T* cosine, const T* sine, T sign, std::int64_t pairs, T* x) {
  T* y = x + pairs;
#pragma omp simd
  for (std::int64_t i = 0; i < pairs; ++i) {
    const T s = sign * sine[i];
    const T first = x[i] * cosine[i] - y[i] * s;
    y[i] = y[i] * cosine[i] + x[i] * s;
    x[i] = first;
  }
}

// Pair i is (x[2 i], x[2 i + 1]).
template <class T>
void RotateNeighbours(const T* cosine, const T* sine, T sign, std::int64_t pairs, T* x) {
#pragma omp simd
  for (std::int64_t i = 0; i < pairs; ++i) {
    const T s = sign * sine[i];
    const T first = x[2 * i] * cosine[i] - x[2 * i + 1] * s;
    x[2 * i + 1] = x[2 * i + 1] * cosine[i] + x[2 * i] * s;
    x[2 * i] = first;
  }
}

template <class T>
void Rotate(const RotaryGeometry& g, const T* cosine, const T* sine, bool inverse,
            const Tensor& x) {
  const std::int64_t row_size = x.shape().back();
  const std::int64_t positions = x.shape()[x.shape().rank() - 2];
  const std::int64_t pairs = g.rotary_size / 2;
  const T sign = inverse ? T{-1} : T{1};
  const auto rotate = g.pairing == RotaryPairing::kHalves ? RotateHalves<T> : RotateNeighbours<T>;
  ParallelFor(x.shape().RowCount(), RowsPerChunk(g.heads * g.rotary_size),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t row = begin; row < end; ++row) {
                  const std::int64_t table = row % positions * pairs;
                  T* head = x.data<T>() + row * row_size + g.offset;
                  for (std::int64_t h = 0; h < g.heads; ++h, head += g.head_size) {
                    rotate(cosine + table, sine + table, sign, pairs, head);
                  }
                }
              });
}

}  // namespace
}  // namespace eigen

void EigenSequenceKernels::Rotate(const RotaryGeometry& g, const Tensor& cosine, const Tensor& sine,
                                  bool inverse, const Tensor& x) {
  eigen::WithFloating("rotary embedding", x.dtype(), [&]<class T>() {
    eigen::Rotate<T>(g, cosine.data<T>(), sine.data<T>(), inverse, x);
  });
}

}  // namespace frugal
