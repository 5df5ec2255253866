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
    for (std::int64_t c = 0; c < columns; ++c) sum += x[c] - x[0];
    const float m = x[0] + sum * inverse;  // little rounding, however far from 0
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
};

// dx = rstd (g - mean(g) - xhat mean(g xhat)) with g = dy weight, xhat = (x - mean) rstd
template <bool kWeighted>
void LayerRowGradient(const LayerRow& row, std::int64_t columns, float* dx) {
  const float *dy = row.dy, *x = row.x, *weight = row.weight;
  const float mean = row.mean, rstd = row.rstd;
  float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
  for (std::int64_t c = 0; c < columns; ++c) {
    const float g = kWeighted ? dy[c] * weight[c] : dy[c];
    sum += g;
    product += g * (x[c] - mean);
  }
  const float inverse = 1.0f / static_cast<float>(columns);
  const float offset = rstd * sum * inverse;
  const float slope = rstd * rstd * rstd * product * inverse;
#pragma omp simd
  for (std::int64_t c = 0; c < columns; ++c) {
    const float g = kWeighted ? dy[c] * weight[c] : dy[c];
    dx[c] = rstd * g - offset - (x[c] - mean) * slope;
  }
}

inline void AddLayerRow(const LayerRow& row, std::int64_t columns, float* dweight, float* dbias) {
  const float *dy = row.dy, *x = row.x;
  const float mean = row.mean, rstd = row.rstd;
  if (dweight != nullptr) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) dweight[c] += dy[c] * ((x[c] - mean) * rstd);
  }
  if (dbias != nullptr) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) dbias[c] += dy[c];
  }
}

inline void LayerBackward(const float* dy, const float* x, const float* mean, const float* rstd,
                          const float* weight, std::int64_t rows, std::int64_t columns, float* dx,
                          float* dweight, float* dbias) {
  for (std::int64_t c = 0; c < columns; ++c) {
    if (dweight != nullptr) dweight[c] = 0;
    if (dbias != nullptr) dbias[c] = 0;
  }
  const auto gradient = weight != nullptr ? LayerRowGradient<true> : LayerRowGradient<false>;
  for (std::int64_t r = 0; r < rows; ++r) {
    const LayerRow row{dy + r * columns, x + r * columns, weight, mean[r], rstd[r]};
    AddLayerRow(row, columns, dweight, dbias);  // first: dx may be dy
    if (dx != nullptr) gradient(row, columns, dx + r * columns);
  }
}

inline constexpr NormLoops kNormLoops{ColumnMoments,     Normalize,    GradientMoments,
                                      NormalizeGradient, LayerForward, LayerBackward,
                                      ColumnSums};

}  // namespace
}  // namespace frugal::simd
