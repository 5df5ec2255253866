#pragma once

#include <cmath>
#include <cstdint>

// Branch-free single precision functions that compilers vectorize. Relative errors are below 4e-7
// unless said otherwise. See all_bodies.h for the unnamed namespace.
namespace frugal::simd {
namespace {

inline float Largest(float a, float b) { return a > b ? a : b; }

// 2^n for an integral n in [-126, 127]
inline float PowerOfTwo(float n) {
  return __builtin_bit_cast(float, (static_cast<std::int32_t>(n) + 127) << 23);
}

// e^x; 0 below -87 (no denormal results), infinity above 88.7, NaN for NaN. Range reduction and
// polynomial of the Cephes library (expf).
inline float Exp(float x) {
  const float low = x < -87.0f ? -87.0f : x;
  const float z = low > 88.7f ? 88.7f : low;
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = (z * 1.44269504089f + magic) - magic;
  const float r = (z - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  // n may be 128 near the top: scale in two steps.
  const float half = n > 127.0f ? 127.0f : n;
  const float y = p * PowerOfTwo(half) * (n > 127.0f ? 2.0f : 1.0f);
  const float bounded = x > 88.72283f ? HUGE_VALF : y;
  return x < -87.0f ? 0.0f : bounded;
}

// Square root for x >= 0 without the library's error handling, which keeps loops from being
// vectorized: three Newton steps from the exponent's half (Lomont, Fast inverse square root, 2003).
inline float SquareRoot(float x) {
  float y = __builtin_bit_cast(float, 0x5f375a86 - (__builtin_bit_cast(std::int32_t, x) >> 1));
  y = y * (1.5f - 0.5f * x * y * y);
  y = y * (1.5f - 0.5f * x * y * y);
  y = y * (1.5f - 0.5f * x * y * y);
  return x * y;
}

}  // namespace
}  // namespace frugal::simd
