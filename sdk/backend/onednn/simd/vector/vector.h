#pragma once

#include <cstdint>
#include <utility>

#include "sdk/core/bfloat16.h"

// Vectors as wide as the instruction set that the including file is compiled for, in the notation
// that g++ and clang share. See all_bodies.h for the unnamed namespace.
namespace frugal::simd {
namespace {

#if defined(__AVX512F__)
inline constexpr std::int64_t kLanes = 16;
#elif defined(__AVX__)
inline constexpr std::int64_t kLanes = 8;
#else
inline constexpr std::int64_t kLanes = 4;
#endif

using Vector __attribute__((vector_size(4 * kLanes))) = float;
using IntVector __attribute__((vector_size(4 * kLanes))) = std::int32_t;
using UnalignedVector __attribute__((vector_size(4 * kLanes), aligned(4), may_alias)) = float;

// A vector of half as many numbers, each twice as wide.
inline constexpr std::int64_t kDoubleLanes = kLanes / 2;
using DoubleVector __attribute__((vector_size(8 * kDoubleLanes))) = double;
using UnalignedHalf __attribute__((vector_size(4 * kDoubleLanes), aligned(4), may_alias)) = float;

inline DoubleVector LoadDoubles(const float* from) {
  return __builtin_convertvector(*reinterpret_cast<const UnalignedHalf*>(from), DoubleVector);
}
inline void StoreDoubles(float* to, DoubleVector v) {
  *reinterpret_cast<UnalignedHalf*>(to) = __builtin_convertvector(v, UnalignedHalf);
}

inline Vector Load(const float* from) { return *reinterpret_cast<const UnalignedVector*>(from); }
inline Vector Load(const BFloat16* from) {
  using Halves __attribute__((vector_size(2 * kLanes), aligned(2), may_alias)) = std::uint16_t;
  const IntVector words =
      __builtin_convertvector(*reinterpret_cast<const Halves*>(from), IntVector);
  return __builtin_bit_cast(Vector, words << 16);
}
inline void Store(float* to, Vector v) { *reinterpret_cast<UnalignedVector*>(to) = v; }
// Loads up to kLanes elements; `fill` stands for the rest.
inline Vector LoadFirst(const float* from, std::int64_t count, float fill = 0) {
  if (count >= kLanes) return Load(from);
  Vector v = Vector{} + fill;
  for (std::int64_t i = 0; i < count; ++i) v[i] = from[i];
  return v;
}
inline void StoreFirst(float* to, Vector v, std::int64_t count) {
  if (count >= kLanes) return Store(to, v);
  for (std::int64_t i = 0; i < count; ++i) to[i] = v[i];
}
// Subtracting zero is what compilers leave out, so that this is one broadcast from memory.
inline Vector Splat(float value) { return value - Vector{}; }

// sum + left * right, as the form of the instruction that writes over the sum: where many sums fill
// the registers g++ 12 takes others too, which write over a factor, and then moves numbers about.
inline Vector MultiplyAdd(Vector sum, Vector left, Vector right) {
#if defined(__AVX512F__)
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
  return sum;
#elif defined(__FMA__)
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(left), "x"(right));
  return sum;
#else
  return sum + left * right;
#endif
}

// Both return b where either is not a number, as the instructions do; of a comparison g++ 12 makes
// two instructions, by way of a mask.
inline Vector Largest(Vector a, Vector b) {
#if defined(__AVX512F__)
  asm("vmaxps %2, %1, %0" : "=v"(a) : "v"(a), "v"(b));
  return a;
#elif defined(__AVX__)
  asm("vmaxps %2, %1, %0" : "=x"(a) : "x"(a), "x"(b));
  return a;
#else
  return a > b ? a : b;
#endif
}
inline Vector Smallest(Vector a, Vector b) {
#if defined(__AVX512F__)
  asm("vminps %2, %1, %0" : "=v"(a) : "v"(a), "v"(b));
  return a;
#elif defined(__AVX__)
  asm("vminps %2, %1, %0" : "=x"(a) : "x"(a), "x"(b));
  return a;
#else
  return a < b ? a : b;
#endif
}

// Folds a vector: lane i is added to lane i + half of what is left.
template <int kCount, int... kIndex>
float FoldLanes(Vector v, std::integer_sequence<int, kIndex...> indices) {
  if constexpr (kCount == 1) {
    return v[0];
  } else {
    const Vector moved = __builtin_shufflevector(v, v, ((kIndex + kCount / 2) % kLanes)...);
    return FoldLanes<kCount / 2>(v + moved, indices);
  }
}
inline float SumOfLanes(Vector v) {
  return FoldLanes<kLanes>(v, std::make_integer_sequence<int, kLanes>());
}

template <int... kIndex>
void Zip(Vector& a, Vector& b, std::integer_sequence<int, kIndex...>) {
  const Vector low = __builtin_shufflevector(a, b, (kIndex / 2 + kIndex % 2 * kLanes)...);
  const Vector high =
      __builtin_shufflevector(a, b, ((kIndex + kLanes) / 2 + kIndex % 2 * kLanes)...);
  a = low;
  b = high;
}

// A square of kLanes rows: each round zips the first half of the rows with the second.
inline void Transpose(Vector (&rows)[kLanes]) {
  for (std::int64_t round = 1; round < kLanes; round *= 2) {
    Vector next[kLanes];
    for (std::int64_t i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = rows[i];
      next[2 * i + 1] = rows[i + kLanes / 2];
      Zip(next[2 * i], next[2 * i + 1], std::make_integer_sequence<int, kLanes>());
    }
    for (std::int64_t i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

}  // namespace
}  // namespace frugal::simd
