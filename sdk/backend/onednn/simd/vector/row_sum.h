#pragma once

#include <cstdint>
#include <type_traits>

#include "sdk/backend/onednn/simd/vector/element.h"
#include "sdk/backend/onednn/simd/vector/vector.h"

// Sums over a row. See all_bodies.h for the unnamed namespace.
namespace frugal::simd {
namespace {

// Reads one element or a vector of them as f32: V is float or Vector.
template <class V, class T>
V Read(const T* from) {
  if constexpr (std::is_same_v<V, float>) {
    return Get(*from);
  } else {
    return Load(from);
  }
}

// Returns the sum of term(i) for each i that a whole vector of n elements begins at. Four are under
// way at once, since an addition takes several cycles.
template <class Term>
[[gnu::always_inline]] inline Vector SumOfVectors(std::int64_t n, const Term& term) {
  constexpr std::int64_t kSums = 4;
  Vector first{}, second{}, third{}, fourth{};
  std::int64_t i = 0;
  for (; i + kSums * kLanes <= n; i += kSums * kLanes) {
    first += term(i);
    second += term(i + kLanes);
    third += term(i + 2 * kLanes);
    fourth += term(i + 3 * kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) first += term(i);
  return (first + second) + (third + fourth);
}

// Returns the sum of term.operator()<float>(i) for i < n, where term.operator()<Vector>(i) stands
// for kLanes of them. Lanes are folded here, since g++ 12 adds those of `omp simd reduction` one by
// one.
template <class Term>
[[gnu::always_inline]] inline float RowSumOf(std::int64_t n, const Term& term) {
  float sum = SumOfLanes(
      SumOfVectors(n, [&](std::int64_t i) { return term.template operator()<Vector>(i); }));
  for (std::int64_t i = n - n % kLanes; i < n; ++i) sum += term.template operator()<float>(i);
  return sum;
}

}  // namespace
}  // namespace frugal::simd
