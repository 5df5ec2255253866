#pragma once

#include "sdk/backend/onednn/simd/element.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::simd {
namespace {

template <bool kWeighted, class T>
void RmsForwardOf(const T* x, std::int64_t rows, std::int64_t columns, const float* weight,
                  float epsilon, T* y, float* rstd) {
  const float inverse = 1.0f / static_cast<float>(columns);
  for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t c = 0; c < columns; ++c) squares += Get(x[c]) * Get(x[c]);
    const float s = 1.0f / __builtin_sqrtf(squares * inverse + epsilon);
    rstd[r] = s;
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      Put(y[c], kWeighted ? Get(x[c]) * s * weight[c] : Get(x[c]) * s);
    }
  }
}

template <class T>
void RmsForward(const T* x, std::int64_t rows, std::int64_t columns, const float* weight,
                float epsilon, T* y, float* rstd) {
  const auto forward = weight != nullptr ? RmsForwardOf<true, T> : RmsForwardOf<false, T>;
  forward(x, rows, columns, weight, epsilon, y, rstd);
}

// dx = rstd (g - xhat mean(g xhat)) with g = dy weight, xhat = x rstd
template <bool kWeighted, class T>
void RmsRowGradient(const T* dy, const T* x, float rstd, const float* weight, std::int64_t columns,
                    T* dx) {
  float product = 0;
#pragma omp simd reduction(+ : product)
  for (std::int64_t c = 0; c < columns; ++c) {
    product += (kWeighted ? Get(dy[c]) * weight[c] : Get(dy[c])) * Get(x[c]);
  }
  const float slope = rstd * rstd * rstd * product / static_cast<float>(columns);
#pragma omp simd
  for (std::int64_t c = 0; c < columns; ++c) {
    const float g = kWeighted ? Get(dy[c]) * weight[c] : Get(dy[c]);
    Put(dx[c], rstd * g - Get(x[c]) * slope);
  }
}

template <class T>
void RmsBackward(const T* dy, const T* x, const float* rstd, const float* weight, std::int64_t rows,
                 std::int64_t columns, T* dx, float* dweight) {
  const auto gradient = weight != nullptr ? RmsRowGradient<true, T> : RmsRowGradient<false, T>;
  for (std::int64_t c = 0; dweight != nullptr && c < columns; ++c) dweight[c] = 0;
  for (std::int64_t r = 0; r < rows; ++r, dy += columns, x += columns) {
    const float s = rstd[r];
    if (dweight != nullptr) {  // first: dx may be dy
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c) dweight[c] += Get(dy[c]) * (Get(x[c]) * s);
    }
    if (dx != nullptr) gradient(dy, x, s, weight, columns, dx + r * columns);
  }
}

}  // namespace
}  // namespace frugal::simd
