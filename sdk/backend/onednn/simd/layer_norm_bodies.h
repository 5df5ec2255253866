#pragma once

#include <cmath>

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/norm_bodies.h"

namespace frugal::simd {
namespace {

inline void LayerForward(const float* x, std::int64_t rows, std::int64_t columns,
                         const float* weight, const float* bias, float epsilon, float* y,
                         float* mean, float* rstd) {
  const float inverse = 1.0f / static_cast<float>(columns);
  for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < columns; ++c) sum += x[c];
    const float m = sum * inverse;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t c = 0; c < columns; ++c) squares += (x[c] - m) * (x[c] - m);
    const float s = 1.0f / __builtin_sqrtf(squares * inverse + epsilon);
    mean[r] = m;
    rstd[r] = s;
    if (weight != nullptr && bias != nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c) y[c] = (x[c] - m) * s * weight[c] + bias[c];
      continue;
    }
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      y[c] = (x[c] - m) * s * (weight != nullptr ? weight[c] : 1.0f) +
             (bias != nullptr ? bias[c] : 0.0f);
    }
  }
}

struct LayerRow {
  const float *dy, *x, *weight;
  float mean, rstd;
  float Normalized(std::int64_t c) const { return (x[c] - mean) * rstd; }
  float Gradient(std::int64_t c) const { return weight != nullptr ? dy[c] * weight[c] : dy[c]; }
};

inline void LayerRowGradient(const LayerRow& row, std::int64_t columns, float* dx) {
  float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
  for (std::int64_t c = 0; c < columns; ++c) {
    const float g = row.Gradient(c);
    sum += g;
    product += g * row.Normalized(c);
  }
  const float inverse = 1.0f / static_cast<float>(columns);
  const float m = sum * inverse, p = product * inverse;
#pragma omp simd
  for (std::int64_t c = 0; c < columns; ++c) {
    dx[c] = row.rstd * (row.Gradient(c) - m - row.Normalized(c) * p);
  }
}

inline void LayerBackward(const float* dy, const float* x, const float* mean, const float* rstd,
                          const float* weight, std::int64_t rows, std::int64_t columns, float* dx,
                          float* dweight, float* dbias) {
  for (std::int64_t c = 0; c < columns; ++c) {
    if (dweight != nullptr) dweight[c] = 0;
    if (dbias != nullptr) dbias[c] = 0;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const LayerRow row{dy + r * columns, x + r * columns, weight, mean[r], rstd[r]};
    // The sums first: dx may be dy.
    if (dweight != nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c) dweight[c] += row.dy[c] * row.Normalized(c);
    }
    if (dbias != nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c) dbias[c] += row.dy[c];
    }
    if (dx != nullptr) LayerRowGradient(row, columns, dx + r * columns);
  }
}

inline constexpr NormLoops kNormLoops{ColumnMoments,     Normalize,    GradientMoments,
                                      NormalizeGradient, LayerForward, LayerBackward,
                                      ColumnSums};

}  // namespace
}  // namespace frugal::simd
