#pragma once

#include <cmath>

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/norm_bodies.h"
#include "sdk/backend/onednn/simd/rms_norm_bodies.h"
#include "sdk/backend/onednn/simd/vector/prefetch.h"

namespace frugal::simd {
namespace {

template <class T>
void LayerForward(const T* x, std::int64_t rows, std::int64_t columns, const float* weight,
                  const float* bias, float epsilon, T* y, float* mean, float* rstd) {
  const float inverse = 1.0f / static_cast<float>(columns);
  for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    FetchAhead(x, columns);
    FetchAhead(y, columns);
    const float first = Get(x[0]);
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < columns; ++c) sum += Get(x[c]) - first;
    const float m = first + sum * inverse;  // little rounding, however far from 0
#pragma omp simd reduction(+ : squares)
    for (std::int64_t c = 0; c < columns; ++c) squares += (Get(x[c]) - m) * (Get(x[c]) - m);
    const float s = 1.0f / __builtin_sqrtf(squares * inverse + epsilon);
    mean[r] = m;
    rstd[r] = s;
    if (weight != nullptr && bias != nullptr) {
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c) {
        Put(y[c], (Get(x[c]) - m) * s * weight[c] + bias[c]);
      }
      continue;
    }
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      Put(y[c], (Get(x[c]) - m) * s * (weight != nullptr ? weight[c] : 1.0f) +
                    (bias != nullptr ? bias[c] : 0.0f));
    }
  }
}

template <class T>
struct LayerRow {
  const T *dy, *x;
  const float* weight;
  float mean, rstd;
};

// dx = rstd (g - mean(g) - xhat mean(g xhat)) with g = dy weight, xhat = (x - mean) rstd
template <bool kWeighted, class T>
void LayerRowGradient(const LayerRow<T>& row, std::int64_t columns, T* dx) {
  const T *dy = row.dy, *x = row.x;
  const float* weight = row.weight;
  const float mean = row.mean, rstd = row.rstd;
  float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
  for (std::int64_t c = 0; c < columns; ++c) {
    const float g = kWeighted ? Get(dy[c]) * weight[c] : Get(dy[c]);
    sum += g;
    product += g * (Get(x[c]) - mean);
  }
  const float inverse = 1.0f / static_cast<float>(columns);
  const float offset = rstd * sum * inverse;
  const float slope = rstd * rstd * rstd * product * inverse;
#pragma omp simd
  for (std::int64_t c = 0; c < columns; ++c) {
    const float g = kWeighted ? Get(dy[c]) * weight[c] : Get(dy[c]);
    Put(dx[c], rstd * g - offset - (Get(x[c]) - mean) * slope);
  }
}

template <class T>
void AddLayerRow(const LayerRow<T>& row, std::int64_t columns, float* dweight, float* dbias) {
  const T *dy = row.dy, *x = row.x;
  const float mean = row.mean, rstd = row.rstd;
  if (dweight != nullptr) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      dweight[c] += Get(dy[c]) * ((Get(x[c]) - mean) * rstd);
    }
  }
  if (dbias != nullptr) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) dbias[c] += Get(dy[c]);
  }
}

template <class T>
void LayerBackward(const T* dy, const T* x, const float* mean, const float* rstd,
                   const float* weight, std::int64_t rows, std::int64_t columns, T* dx,
                   float* dweight, float* dbias) {
  for (std::int64_t c = 0; c < columns; ++c) {
    if (dweight != nullptr) dweight[c] = 0;
    if (dbias != nullptr) dbias[c] = 0;
  }
  const auto gradient = weight != nullptr ? LayerRowGradient<true, T> : LayerRowGradient<false, T>;
  for (std::int64_t r = 0; r < rows; ++r) {
    const LayerRow<T> row{dy + r * columns, x + r * columns, weight, mean[r], rstd[r]};
    FetchAhead(row.dy, columns);
    FetchAhead(row.x, columns);
    if (dx != nullptr) FetchAhead(dx + r * columns, columns);
    AddLayerRow(row, columns, dweight, dbias);  // first: dx may be dy
    if (dx != nullptr) gradient(row, columns, dx + r * columns);
  }
}

template <class T>
constexpr NormLoops<T> kNormLoops{ColumnMoments<T>,     Normalize<T>,    GradientMoments<T>,
                                  NormalizeGradient<T>, LayerForward<T>, LayerBackward<T>,
                                  ColumnSums<T>,        RmsForward<T>,   RmsBackward<T>};

}  // namespace
}  // namespace frugal::simd
