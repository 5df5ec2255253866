#pragma once

#include <cmath>

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/norm_bodies.h"
#include "sdk/backend/onednn/simd/rms_norm_bodies.h"
#include "sdk/backend/onednn/simd/vector/prefetch.h"
#include "sdk/backend/onednn/simd/vector/row_sum.h"

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
    const float sum =
        RowSumOf(columns, [=]<class V>(std::int64_t c) { return Read<V>(x + c) - first; });
    const float m = first + sum * inverse;  // little rounding, however far from 0
    const float squares = RowSumOf(columns, [=]<class V>(std::int64_t c) {
      const V deviation = Read<V>(x + c) - m;
      return deviation * deviation;
    });
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
  const auto gradient = [=]<class V>(std::int64_t c) {
    return kWeighted ? Read<V>(dy + c) * Read<V>(weight + c) : Read<V>(dy + c);
  };
  const float sum = RowSumOf(columns, gradient);
  const float product = RowSumOf(columns, [=]<class V>(std::int64_t c) {
    return gradient.template operator()<V>(c) * (Read<V>(x + c) - mean);
  });
  const float inverse = 1.0f / static_cast<float>(columns);
  const float offset = rstd * sum * inverse;
  const float slope = rstd * rstd * rstd * product * inverse;
#pragma omp simd
  for (std::int64_t c = 0; c < columns; ++c) {
    Put(dx[c], rstd * gradient.template operator()<float>(c) - offset - (Get(x[c]) - mean) * slope);
  }
}

// Adds kRows rows, which lie one behind the other, to the parameters' gradients.
template <int kRows, class T>
void AddLayerRows(const T* dy, const T* x, const float* mean, const float* rstd,
                  std::int64_t columns, float* dweight, float* dbias) {
  float center[kRows], scale[kRows];
  for (int r = 0; r < kRows; ++r) {
    center[r] = mean[r];
    scale[r] = rstd[r];
  }
  if (dweight != nullptr) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      float sum = dweight[c];
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t at = r * columns + c;
        sum += Get(dy[at]) * ((Get(x[at]) - center[r]) * scale[r]);
      }
      dweight[c] = sum;
    }
  }
  if (dbias != nullptr) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      float sum = dbias[c];
      for (int r = 0; r < kRows; ++r) sum += Get(dy[r * columns + c]);
      dbias[c] = sum;
    }
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
  constexpr int kTogether = 4;
  for (std::int64_t first = 0; first < rows; first += kTogether) {
    const std::int64_t count = rows - first < kTogether ? rows - first : kTogether;
    const std::int64_t at = first * columns;
    // The parameters' come first: dx may be dy.
    if (count == kTogether) {
      AddLayerRows<kTogether>(dy + at, x + at, mean + first, rstd + first, columns, dweight, dbias);
    }
    for (std::int64_t r = first; r < first + count; ++r) {
      const LayerRow<T> row{dy + r * columns, x + r * columns, weight, mean[r], rstd[r]};
      if (count < kTogether) {
        AddLayerRows<1>(row.dy, row.x, mean + r, rstd + r, columns, dweight, dbias);
      }
      FetchLines(row.dy + kTogether * columns, columns);
      FetchLines(row.x + kTogether * columns, columns);
      if (dx == nullptr) continue;
      FetchAhead(dx + r * columns, columns);
      gradient(row, columns, dx + r * columns);
    }
  }
}

template <class T>
constexpr NormLoops<T> kNormLoops{
    ColumnMoments<T>, Normalize<T>,  GradientMoments<T>, NormalizeGradient<T>, LayerForward<T>,
    LayerBackward<T>, ColumnSums<T>, AddParts,           RmsForward<T>,        RmsBackward<T>};

}  // namespace
}  // namespace frugal::simd
