#pragma once

#include <cstdint>
#include <utility>

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

inline Vector Load(const float* from) { return *reinterpret_cast<const UnalignedVector*>(from); }
inline void Store(float* to, Vector v) { *reinterpret_cast<UnalignedVector*>(to) = v; }
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

// b where either is not a number
inline Vector Largest(Vector a, Vector b) { return a > b ? a : b; }

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
