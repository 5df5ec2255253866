#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/vector/element.h"
#include "sdk/backend/onednn/simd/vector/row_sum.h"

namespace frugal::simd {
namespace {

// Queries' and keys' norms have many short rows, whose loops are unrolled for the usual sizes of
// heads: kColumns is that size, or 0 for any.
template <std::int64_t kColumns, bool kWeighted, class T>
void RmsForwardOf(const T* x, std::int64_t rows, std::int64_t any_columns, const float* weight,
                  float epsilon, T* y, float* rstd) {
  const std::int64_t columns = kColumns > 0 ? kColumns : any_columns;
  const float inverse = 1.0f / static_cast<float>(columns);
  for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const float squares =
        RowSumOf(columns, [=]<class V>(std::int64_t c) { return Read<V>(x + c) * Read<V>(x + c); });
    const float s = 1.0f / __builtin_sqrtf(squares * inverse + epsilon);
    rstd[r] = s;
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      Put(y[c], kWeighted ? Get(x[c]) * s * weight[c] : Get(x[c]) * s);
    }
  }
}

template <std::int64_t kColumns, class T>
void RmsForwardIn(const T* x, std::int64_t rows, std::int64_t columns, const float* weight,
                  float epsilon, T* y, float* rstd) {
  const auto forward =
      weight != nullptr ? RmsForwardOf<kColumns, true, T> : RmsForwardOf<kColumns, false, T>;
  forward(x, rows, columns, weight, epsilon, y, rstd);
}

template <class T>
void RmsForward(const T* x, std::int64_t rows, std::int64_t columns, const float* weight,
                float epsilon, T* y, float* rstd) {
  const auto forward = columns == 64    ? RmsForwardIn<64, T>
                       : columns == 128 ? RmsForwardIn<128, T>
                                        : RmsForwardIn<0, T>;
  forward(x, rows, columns, weight, epsilon, y, rstd);
}

// dx = rstd (g - xhat mean(g xhat)) with g = dy weight, xhat = x rstd
template <std::int64_t kColumns, bool kWeighted, class T>
void RmsBackwardOf(const T* dy, const T* x, const float* rstd, const float* weight,
                   std::int64_t rows, std::int64_t any_columns, T* dx, float* dweight) {
  const std::int64_t columns = kColumns > 0 ? kColumns : any_columns;
  for (std::int64_t c = 0; dweight != nullptr && c < columns; ++c) dweight[c] = 0;
  for (std::int64_t r = 0; r < rows; ++r, dy += columns, x += columns) {
    const float s = rstd[r];
    if (dweight != nullptr) {  // first: dx may be dy
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c) dweight[c] += Get(dy[c]) * (Get(x[c]) * s);
    }
    if (dx == nullptr) continue;
    const float product = RowSumOf(columns, [=]<class V>(std::int64_t c) {
      const V g = kWeighted ? Read<V>(dy + c) * Read<V>(weight + c) : Read<V>(dy + c);
      return g * Read<V>(x + c);
    });
    const float slope = s * s * s * product / static_cast<float>(columns);
    T* const to = dx + r * columns;
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      const float g = kWeighted ? Get(dy[c]) * weight[c] : Get(dy[c]);
      Put(to[c], s * g - Get(x[c]) * slope);
    }
  }
}

template <std::int64_t kColumns, class T>
void RmsBackwardIn(const T* dy, const T* x, const float* rstd, const float* weight,
                   std::int64_t rows, std::int64_t columns, T* dx, float* dweight) {
  const auto backward =
      weight != nullptr ? RmsBackwardOf<kColumns, true, T> : RmsBackwardOf<kColumns, false, T>;
  backward(dy, x, rstd, weight, rows, columns, dx, dweight);
}

template <class T>
void RmsBackward(const T* dy, const T* x, const float* rstd, const float* weight, std::int64_t rows,
                 std::int64_t columns, T* dx, float* dweight) {
  const auto backward = columns == 64    ? RmsBackwardIn<64, T>
                        : columns == 128 ? RmsBackwardIn<128, T>
                                         : RmsBackwardIn<0, T>;
  backward(dy, x, rstd, weight, rows, columns, dx, dweight);
}

}  // namespace
}  // namespace frugal::simd
