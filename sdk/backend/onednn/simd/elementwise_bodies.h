#pragma once

#include "sdk/backend/onednn/simd/activation_bodies.h"
#include "sdk/backend/onednn/simd/dropout_bodies.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/vector/prefetch.h"

namespace frugal::simd {
namespace {

template <class T>
void Add(const T* a, const T* b, T* sum, std::int64_t n) {
  const auto add = [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) Put(sum[i], Get(a[i]) + Get(b[i]));
  };
  FetchingAhead(n, add, a, b, sum);
}

template <class T>
void Scale(const T* x, float factor, T* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) Put(y[i], Get(x[i]) * factor);
}

template <class T>
void Fill(float value, T* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) Put(y[i], value);
}

inline void Widen(const BFloat16* x, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = Get(x[i]);
}

inline void Narrow(const float* x, BFloat16* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) Put(y[i], x[i]);
}

template <class T>
constexpr ElementwiseLoops<T> kElementwiseLoops =
    WithActivations<T>({{}, {}, Add<T>, Scale<T>, Fill<T>, Dropout<T>});

inline constexpr ConversionLoops kConversionLoops{Widen, Narrow};

}  // namespace
}  // namespace frugal::simd
