#pragma once

#include "sdk/backend/onednn/simd/vector/vector.h"

// Functions of vectors. See all_bodies.h for the unnamed namespace.
namespace frugal::simd {
namespace {

// 2^x for x <= 127; 0 below -126.5 (no denormal results), NaN for NaN. Relative error below 2e-7.
inline Vector PowerOfTwo(Vector x) {
  // 1.5 * 2^23 + 127: adding it rounds to an integer, which is left in the low bits as the exponent
  // of 2^n; that of -127 is 0.
  const Vector magic = Splat(12583039.0f);
  const Vector bounded = Largest(Splat(-127.0f), x);
  const Vector shifted = bounded + magic;
  const Vector r = bounded - (shifted - magic);
  Vector p = Splat(1.326474254e-3f);
  p = p * r + 9.671518000e-3f;
  p = p * r + 5.550733756e-2f;
  p = p * r + 2.402224200e-1f;
  p = p * r + 6.931469776e-1f;
  p = p * r + 1.0f;
  return p * __builtin_bit_cast(Vector, __builtin_bit_cast(IntVector, shifted) << 23);
}

}  // namespace
}  // namespace frugal::simd
