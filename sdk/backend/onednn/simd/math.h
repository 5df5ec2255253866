#pragma once

#include <cmath>
#include <cstdint>

// Branch-free single precision functions that compilers vectorize. Relative errors are below 4e-7
// unless said otherwise. See all_bodies.h for the unnamed namespace.
namespace frugal::simd {
namespace {

inline float Largest(float a, float b) { return a > b ? a : b; }
inline float Absolute(float x) { return x < 0.0f ? -x : x; }

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

inline float Sigmoid(float x) {
  const float e = Exp(-Absolute(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// Cephes (tanhf): a polynomial near 0, exponentials elsewhere.
inline float Tanh(float x) {
  const float magnitude = Absolute(x);
  const float e = Exp(-2.0f * magnitude);
  const float far = (1.0f - e) / (1.0f + e);
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = x + x * z * p;
  return magnitude < 0.625f ? near : (x < 0.0f ? -far : far);
}

// log(1 + u) for u in [0, 1], by the series of artanh(u / (2 + u)).
inline float Log1pUnit(float u) {
  const float s = u / (2.0f + u);
  const float z = s * s;
  float p = 1.0f / 13.0f;
  p = p * z + 1.0f / 11.0f;
  p = p * z + 1.0f / 9.0f;
  p = p * z + 1.0f / 7.0f;
  p = p * z + 1.0f / 5.0f;
  p = p * z + 1.0f / 3.0f;
  p = p * z + 1.0f;
  return 2.0f * s * p;
}

inline float Softplus(float x) { return Largest(x, 0.0f) + Log1pUnit(Exp(-Absolute(x))); }

// Phi(x), the normal distribution function, by formula 7.1.26 of Abramowitz & Stegun, Handbook of
// Mathematical Functions: absolute error below 8e-8.
inline float NormalCdf(float x) {
  const float z = Absolute(x) * 0.70710678118f;
  const float t = 1.0f / (1.0f + 0.3275911f * z);
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const float tail = 0.5f * p * t * Exp(-z * z);
  return x < 0.0f ? tail : 1.0f - tail;
}

}  // namespace
}  // namespace frugal::simd
