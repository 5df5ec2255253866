#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/vector/element.h"
#include "sdk/backend/onednn/simd/vector/prefetch.h"
#include "sdk/backend/onednn/simd/vector/unroll.h"
#include "sdk/backend/onednn/simd/vector/upcast.h"
#include "sdk/backend/onednn/simd/vector/vector.h"

namespace frugal::simd {
namespace {

template <class T>
void ColumnMoments(const T* x, std::int64_t rows, std::int64_t columns, const float* shift,
                   float* sum, float* squares) {
  ReduceRows(rows, columns, Parameters<1>{{shift}}, sum, squares,
             [x](std::int64_t first, std::int64_t count, std::int64_t width, const Parameters<1>& p,
                 float* total, float* square) {
               const T* row = x + first;
               const float* mean = p.of[0];
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

// A column's sum waits for each of its parts, so that several are under way at once.
inline void AddParts(const float* table, std::int64_t parts, std::int64_t stride,
                     std::int64_t columns, bool accumulate, float* to) {
  constexpr int kSums = 8;
  constexpr std::int64_t kTogether = kSums * kDoubleLanes;
  std::int64_t c = 0;
  for (; c + kTogether <= columns; c += kTogether) {
    DoubleVector sums[kSums];
    Unroll<kSums>([&]<int i>() {
      sums[i] = accumulate ? LoadDoubles(to + c + i * kDoubleLanes) : DoubleVector{};
    });
    const float* part = table + c;
    for (std::int64_t p = 0; p < parts; ++p, part += stride) {
      Unroll<kSums>([&]<int i>() { sums[i] += LoadDoubles(part + i * kDoubleLanes); });
    }
    Unroll<kSums>([&]<int i>() { StoreDoubles(to + c + i * kDoubleLanes, sums[i]); });
  }
  for (; c < columns; ++c) {
    double sum = accumulate ? static_cast<double>(to[c]) : 0.0;
    for (std::int64_t p = 0; p < parts; ++p) sum += static_cast<double>(table[p * stride + c]);
    to[c] = static_cast<float>(sum);
  }
}

// Returns what the relu sees, from x - mean. Forward and backward call this one expression, so that
// they round it alike (with a fused multiply-add or without) and the gradient is cut where y was.
inline float Normalized(float deviation, float scale, float offset) {
  return deviation * scale + offset;
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
                 const float v = Normalized(Get(from[c]) - m[c], s[c], o[c]);
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

enum class CutBy { kNothing, kOutput, kInput };

// dy of some rows of one width, cut; y and the others may be null where they are not needed.
template <CutBy kBy, class T>
struct CutRows {
  const T *dy, *y;
  const float *scale, *offset;

  // Returns the cut gradient of element i, which lies in column c.
  float Of(std::int64_t i, std::int64_t c, float deviation) const {
    const float gradient = Get(dy[i]);
    float seen = 1.0f;
    if constexpr (kBy == CutBy::kOutput) seen = Get(y[i]);
    if constexpr (kBy == CutBy::kInput) seen = Normalized(deviation, scale[c], offset[c]);
    return seen > 0.0f ? gradient : 0.0f;
  }
  void FetchAheadOf(std::int64_t at, std::int64_t count) const {
    FetchAhead(dy + at, count);
    if constexpr (kBy == CutBy::kOutput) FetchAhead(y + at, count);
  }
};

// Calls body.operator()<by>().
template <class T, class Body>
void WithCut(const ReluCut<T>& cut, const Body& body) {
  if (cut.y != nullptr) return body.template operator()<CutBy::kOutput>();
  if (cut.offset != nullptr) return body.template operator()<CutBy::kInput>();
  body.template operator()<CutBy::kNothing>();
}

template <CutBy kBy, class T>
void GradientMomentsOf(const T* dy, const T* x, const ReluCut<T>& relu, std::int64_t rows,
                       std::int64_t columns, const float* mean, float* sum, float* product) {
  const T* const y = relu.y;
  ReduceRows<3>(
      rows, columns, {{mean, relu.scale, relu.offset}}, sum, product,
      [=](std::int64_t first, std::int64_t count, std::int64_t width, const Parameters<3>& p,
          float* total, float* products) {
        const CutRows<kBy, T> cut{dy + first, y != nullptr ? y + first : y, p.of[1], p.of[2]};
        const T* v = x + first;
        const float* center = p.of[0];
        std::int64_t r = 0;
        for (; r + 2 <= count; r += 2) {
          const std::int64_t at = r * width, next = at + width;
          cut.FetchAheadOf(at, 2 * width);
          FetchAhead(v + at, 2 * width);
#pragma omp simd
          for (std::int64_t c = 0; c < width; ++c) {
            const float d0 = Get(v[at + c]) - center[c], d1 = Get(v[next + c]) - center[c];
            const float g0 = cut.Of(at + c, c, d0), g1 = cut.Of(next + c, c, d1);
            total[c] += g0 + g1;
            products[c] += g0 * d0 + g1 * d1;
          }
        }
        for (; r < count; ++r) {
          const std::int64_t at = r * width;
#pragma omp simd
          for (std::int64_t c = 0; c < width; ++c) {
            const float d = Get(v[at + c]) - center[c], g = cut.Of(at + c, c, d);
            total[c] += g;
            products[c] += g * d;
          }
        }
      });
}

template <class T>
void GradientMoments(const T* dy, const T* x, const ReluCut<T>& cut, std::int64_t rows,
                     std::int64_t columns, const float* mean, float* sum, float* product) {
  WithCut(cut, [&]<CutBy kBy>() {
    GradientMomentsOf<kBy>(dy, x, cut, rows, columns, mean, sum, product);
  });
}

template <CutBy kBy, class T>
void NormalizeGradientOf(const T* dy, const T* x, const T* y, std::int64_t rows,
                         std::int64_t columns, const Parameters<6>& parameters, T* dx) {
  ForRows<6>(rows, columns, parameters,
             [=](std::int64_t at, std::int64_t width, const Parameters<6>& p) {
               const CutRows<kBy, T> cut{dy + at, y != nullptr ? y + at : y, p.of[1], p.of[2]};
               const T* v = x + at;
               const float *m = p.of[0], *a = p.of[3], *b = p.of[4], *constant = p.of[5];
               T* to = dx + at;
               cut.FetchAheadOf(0, width);
               FetchAhead(v, width);
               FetchAhead(to, width);
#pragma omp simd
               for (std::int64_t c = 0; c < width; ++c) {
                 const float d = Get(v[c]) - m[c];
                 Put(to[c], a[c] * cut.Of(c, c, d) + (b[c] * d + constant[c]));
               }
             });
}

template <class T>
void NormalizeGradient(const T* dy, const T* x, const ReluCut<T>& cut, std::int64_t rows,
                       std::int64_t columns, const float* mean, const float* a, const float* b,
                       const float* c, T* dx) {
  WithCut(cut, [&]<CutBy kBy>() {
    NormalizeGradientOf<kBy>(dy, x, cut.y, rows, columns, {{mean, cut.scale, cut.offset, a, b, c}},
                             dx);
  });
}

}  // namespace
}  // namespace frugal::simd
