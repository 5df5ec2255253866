#pragma once

#include "sdk/backend/onednn/simd/element.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/prefetch.h"
#include "sdk/backend/onednn/simd/widened.h"

namespace frugal::simd {
namespace {

template <class T>
void ColumnMoments(const T* x, std::int64_t rows, std::int64_t columns, const float* shift,
                   float* sum, float* squares) {
  ReduceRows(rows, columns, shift, sum, squares,
             [x](std::int64_t first, std::int64_t count, std::int64_t width, const float* mean,
                 float* total, float* square) {
               const T* row = x + first;
               std::int64_t r = 0;
               for (; r + 4 <= count; r += 4, row += 4 * width) {
                 FetchAhead(row, 4 * width);
#pragma omp simd
                 for (std::int64_t c = 0; c < width; ++c) {
                   const float d0 = Get(row[c]) - mean[c];
                   const float d1 = Get(row[c + width]) - mean[c];
                   const float d2 = Get(row[c + 2 * width]) - mean[c];
                   const float d3 = Get(row[c + 3 * width]) - mean[c];
                   total[c] += (d0 + d1) + (d2 + d3);
                   square[c] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3);
                 }
               }
               for (; r < count; ++r, row += width) {
#pragma omp simd
                 for (std::int64_t c = 0; c < width; ++c) {
                   const float d = Get(row[c]) - mean[c];
                   total[c] += d;
                   square[c] += d * d;
                 }
               }
             });
}

template <class T>
void ColumnSums(const T* x, std::int64_t rows, std::int64_t columns, float* sum) {
  for (std::int64_t c = 0; c < columns; ++c) sum[c] = 0;
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * columns) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) {
      sum[c] +=
          (Get(x[c]) + Get(x[c + columns])) + (Get(x[c + 2 * columns]) + Get(x[c + 3 * columns]));
    }
  }
  for (; r < rows; ++r, x += columns) {
#pragma omp simd
    for (std::int64_t c = 0; c < columns; ++c) sum[c] += Get(x[c]);
  }
}

template <bool kRelu, class T>
void NormalizeRows(const T* x, std::int64_t rows, std::int64_t columns, const float* mean,
                   const float* scale, const float* offset, T* y) {
  ForRows<3>(rows, columns, {{mean, scale, offset}},
             [x, y](std::int64_t at, std::int64_t width, const Parameters<3>& p) {
               const T* from = x + at;
               T* to = y + at;
               const float *m = p.of[0], *s = p.of[1], *o = p.of[2];
               FetchAhead(from, width);
               FetchAhead(to, width);
#pragma omp simd
               for (std::int64_t c = 0; c < width; ++c) {
                 const float v = (Get(from[c]) - m[c]) * s[c] + o[c];
                 Put(to[c], kRelu && v < 0.0f ? 0.0f : v);  // not a number stays so
               }
             });
}

template <class T>
void Normalize(const T* x, std::int64_t rows, std::int64_t columns, const float* mean,
               const float* scale, const float* offset, bool relu, T* y) {
  if (relu) {
    NormalizeRows<true>(x, rows, columns, mean, scale, offset, y);
  } else {
    NormalizeRows<false>(x, rows, columns, mean, scale, offset, y);
  }
}

template <bool kCut, class T>
float Cut(const T* dy, const T* y, std::int64_t i) {
  if constexpr (kCut) return Get(y[i]) > 0.0f ? Get(dy[i]) : 0.0f;
  return Get(dy[i]);
}

template <bool kCut, class T>
void GradientMomentsOf(const T* dy, const T* x, const T* y, std::int64_t rows, std::int64_t columns,
                       const float* mean, float* sum, float* product) {
  ReduceRows(rows, columns, mean, sum, product,
             [=](std::int64_t first, std::int64_t count, std::int64_t width, const float* center,
                 float* total, float* products) {
               const T *g = dy + first, *v = x + first, *out = kCut ? y + first : nullptr;
               std::int64_t r = 0;
               for (; r + 2 <= count; r += 2) {
                 const std::int64_t at = r * width;
                 FetchAhead(g + at, 2 * width);
                 FetchAhead(v + at, 2 * width);
                 if (kCut) FetchAhead(out + at, 2 * width);
#pragma omp simd
                 for (std::int64_t c = 0; c < width; ++c) {
                   const float g0 = Cut<kCut>(g, out, at + c);
                   const float g1 = Cut<kCut>(g, out, at + width + c);
                   total[c] += g0 + g1;
                   products[c] += g0 * (Get(v[at + c]) - center[c]) +
                                  g1 * (Get(v[at + width + c]) - center[c]);
                 }
               }
               for (; r < count; ++r) {
                 const std::int64_t at = r * width;
#pragma omp simd
                 for (std::int64_t c = 0; c < width; ++c) {
                   const float g0 = Cut<kCut>(g, out, at + c);
                   total[c] += g0;
                   products[c] += g0 * (Get(v[at + c]) - center[c]);
                 }
               }
             });
}

template <class T>
void GradientMoments(const T* dy, const T* x, const T* y, std::int64_t rows, std::int64_t columns,
                     const float* mean, float* sum, float* product) {
  if (y != nullptr) {
    GradientMomentsOf<true>(dy, x, y, rows, columns, mean, sum, product);
  } else {
    GradientMomentsOf<false>(dy, x, y, rows, columns, mean, sum, product);
  }
}

template <bool kCut, class T>
void NormalizeGradientOf(const T* dy, const T* x, const T* y, std::int64_t rows,
                         std::int64_t columns, const Parameters<4>& parameters, T* dx) {
  ForRows<4>(
      rows, columns, parameters, [=](std::int64_t at, std::int64_t width, const Parameters<4>& p) {
        const T *g = dy + at, *v = x + at, *out = kCut ? y + at : nullptr;
        const float *m = p.of[0], *a = p.of[1], *b = p.of[2], *constant = p.of[3];
        T* to = dx + at;
        FetchAhead(g, width);
        FetchAhead(v, width);
        if (kCut) FetchAhead(out, width);
        FetchAhead(to, width);
#pragma omp simd
        for (std::int64_t c = 0; c < width; ++c) {
          Put(to[c], a[c] * Cut<kCut>(g, out, c) + (b[c] * (Get(v[c]) - m[c]) + constant[c]));
        }
      });
}

template <class T>
void NormalizeGradient(const T* dy, const T* x, const T* y, std::int64_t rows, std::int64_t columns,
                       const float* mean, const float* a, const float* b, const float* c, T* dx) {
  if (y != nullptr) {
    NormalizeGradientOf<true>(dy, x, y, rows, columns, {{mean, a, b, c}}, dx);
  } else {
    NormalizeGradientOf<false>(dy, x, y, rows, columns, {{mean, a, b, c}}, dx);
  }
}

}  // namespace
}  // namespace frugal::simd
