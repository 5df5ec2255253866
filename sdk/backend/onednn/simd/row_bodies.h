#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/short_activation_bodies.h"
#include "sdk/backend/onednn/simd/vector/element.h"
#include "sdk/backend/onednn/simd/vector/math.h"
#include "sdk/backend/onednn/simd/vector/row_sum.h"
#include "sdk/backend/onednn/simd/vector/vector_math.h"

namespace frugal::simd {
namespace {

// The maximum is taken in lanes of our own, since compilers do not reorder comparisons of floats by
// themselves.
template <class T>
float RowMaximum(const T* x, std::int64_t n) {
  constexpr std::int64_t kMaximumLanes = 32;
  float largest = -HUGE_VALF;
  std::int64_t i = 0;
  if (n >= kMaximumLanes) {
    float lanes[kMaximumLanes];
    for (std::int64_t j = 0; j < kMaximumLanes; ++j) lanes[j] = Get(x[j]);
    for (i = kMaximumLanes; i + kMaximumLanes <= n; i += kMaximumLanes) {
#pragma omp simd
      for (std::int64_t j = 0; j < kMaximumLanes; ++j) lanes[j] = Largest(Get(x[i + j]), lanes[j]);
    }
    for (std::int64_t j = 0; j < kMaximumLanes; ++j) largest = Largest(lanes[j], largest);
  }
  for (; i < n; ++i) largest = Largest(Get(x[i]), largest);
  return largest;
}

// Returns e^(x - shift) of each lane, x at most a little above shift. The difference is rounded by
// as much as its product with log2 e.
inline Vector ShiftedPowers(Vector x, float shift) {
  return PowerOfTwo((x - shift) * 1.44269504089f);
}

inline float SumOfExponentials(const float* x, float shift, std::int64_t n) {
  Vector sum = SumOfVectors(n, [=](std::int64_t i) { return ShiftedPowers(Load(x + i), shift); });
  const std::int64_t rest = n % kLanes;
  if (rest > 0) sum += ShiftedPowers(LoadFirst(x + n - rest, rest, -HUGE_VALF), shift);
  return SumOfLanes(sum);
}

inline float SumOfExponentials(const BFloat16* x, float shift, std::int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += ShortExp(Get(x[i]) - shift);
  return sum;
}

template <class T>
float LogSumExp(const T* x, std::int64_t n) {
  const float largest = RowMaximum(x, n);
  return largest + __builtin_logf(SumOfExponentials(x, largest, n));
}

template <class T>
double RowSum(const T* x, std::int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(Get(x[i]));
  return sum;
}

inline void CrossEntropyGradient(const float* x, float log_sum_exp, float uniform, float factor,
                                 float* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const Vector p = ShiftedPowers(LoadFirst(x + i, n - i), log_sum_exp);
    StoreFirst(dx + i, factor * (p - uniform), n - i);
  }
}

inline void CrossEntropyGradient(const BFloat16* x, float log_sum_exp, float uniform, float factor,
                                 BFloat16* dx, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    Put(dx[i], factor * (ShortExp(Get(x[i]) - log_sum_exp) - uniform));
  }
}

// The row is read in blocks, since most rows that lose do so early.
template <class T>
bool IsLargest(const T* x, std::int64_t label, std::int64_t n) {
  constexpr std::int64_t kBlock = 256;
  const float value = Get(x[label]);
  if (value != value) return false;
  std::int32_t better = 0;
  for (std::int64_t begin = 0; begin < n && better == 0; begin += kBlock) {
    const std::int64_t end = begin + kBlock < n ? begin + kBlock : n;
    const std::int64_t middle = label < begin ? begin : (label < end ? label : end);
#pragma omp simd reduction(+ : better)
    for (std::int64_t i = begin; i < middle; ++i) better += value > Get(x[i]) ? 0 : 1;
#pragma omp simd reduction(+ : better)
    for (std::int64_t i = middle; i < end; ++i) better += value >= Get(x[i]) ? 0 : 1;
  }
  return better == 0;
}

template <class T>
constexpr RowLoops<T> kRowLoops{LogSumExp<T>, RowSum<T>, CrossEntropyGradient, IsLargest<T>};

}  // namespace
}  // namespace frugal::simd
