#pragma once

#include "sdk/backend/onednn/simd/activation_bodies.h"
#include "sdk/backend/onednn/simd/dropout_bodies.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::simd {
namespace {

inline void Add(const float* a, const float* b, float* sum, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

inline void Scale(const float* x, float factor, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

inline void Fill(float value, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = value;
}

inline constexpr ElementwiseLoops kElementwiseLoops =
    WithActivations({{}, {}, Add, Scale, Fill, Dropout});

}  // namespace
}  // namespace frugal::simd
