#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/math.h"

namespace frugal::simd {
namespace {

// In lanes of our own, since compilers do not reorder comparisons of floats by themselves.
inline float RowMaximum(const float* x, std::int64_t n) {
  constexpr std::int64_t kLanes = 32;
  float largest = -HUGE_VALF;
  std::int64_t i = 0;
  if (n >= kLanes) {
    float lanes[kLanes];
    for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] = x[j];
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
#pragma omp simd
      for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] = Largest(x[i + j], lanes[j]);
    }
    for (std::int64_t j = 0; j < kLanes; ++j) largest = Largest(lanes[j], largest);
  }
  for (; i < n; ++i) largest = Largest(x[i], largest);
  return largest;
}

inline float SumOfExponentials(const float* x, float shift, std::int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += Exp(x[i] - shift);
  return sum;
}

inline float LogSumExp(const float* x, std::int64_t n) {
  const float largest = RowMaximum(x, n);
  return largest + __builtin_logf(SumOfExponentials(x, largest, n));
}

inline double RowSum(const float* x, std::int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

inline void CrossEntropyGradient(const float* x, float log_sum_exp, float uniform, float factor,
                                 float* dx, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) dx[i] = factor * (Exp(x[i] - log_sum_exp) - uniform);
}

inline constexpr RowLoops kRowLoops{LogSumExp, RowSum, CrossEntropyGradient};

}  // namespace
}  // namespace frugal::simd
