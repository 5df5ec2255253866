#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/vector/element.h"

namespace frugal::simd {
namespace {

// The pair number `i` of x: two neighbours. A pair of bf16 is one word, which vectorizes where
// every second element of 16 bits would not.
struct Pair {
  float first, second;
};
inline Pair GetPair(const float* x, std::int64_t i) { return {x[2 * i], x[2 * i + 1]}; }
inline void PutPair(float* x, std::int64_t i, Pair pair) {
  x[2 * i] = pair.first;
  x[2 * i + 1] = pair.second;
}
inline Pair GetPair(const BFloat16* x, std::int64_t i) {
  std::uint32_t word;
  __builtin_memcpy(&word, x + 2 * i, 4);
  return {__builtin_bit_cast(float, word << 16), __builtin_bit_cast(float, word & 0xffff0000U)};
}
inline void PutPair(BFloat16* x, std::int64_t i, Pair pair) {
  BFloat16 first, second;
  Put(first, pair.first);
  Put(second, pair.second);
  const std::uint32_t word = first.bits | (static_cast<std::uint32_t>(second.bits) << 16);
  __builtin_memcpy(static_cast<void*>(x + 2 * i), &word, 4);
}

template <class T>
void RotateNeighbours(const T* x, const float* cosine, const float* sine, float sign,
                      std::int64_t pairs, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < pairs; ++i) {
    const Pair p = GetPair(x, i);
    const float c = cosine[i], s = sign * sine[i];
    PutPair(y, i, {p.first * c - p.second * s, p.second * c + p.first * s});
  }
}

template <class T>
void RotateHalves(const T* x, const float* cosine, const float* sine, float sign,
                  std::int64_t pairs, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < pairs; ++i) {
    const float a = Get(x[i]), b = Get(x[i + pairs]);
    const float c = cosine[i], s = sign * sine[i];
    Put(y[i], a * c - b * s);
    Put(y[i + pairs], b * c + a * s);
  }
}

template <class T>
void AddAngleGradients(const T* dy, const T* x, std::int64_t pairs, float* dcosine, float* dsine) {
#pragma omp simd
  for (std::int64_t i = 0; i < pairs; ++i) {
    const Pair g = GetPair(dy, i), p = GetPair(x, i);
    dcosine[i] += g.first * p.first + g.second * p.second;
    dsine[i] += g.second * p.first - g.first * p.second;
  }
}

template <class T>
constexpr RotaryLoops<T> kRotaryLoops{RotateHalves<T>, RotateNeighbours<T>, AddAngleGradients<T>};

}  // namespace
}  // namespace frugal::simd
