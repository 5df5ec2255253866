#pragma once

#include "sdk/backend/onednn/simd/vector/math.h"

// Activations with exponentials for results of 8 bits: relative errors around 1e-5. Forms as in
// activation_bodies.h; Slope reads the input.
namespace frugal::simd {
namespace {

// e^x for x in [-80, 80]; beyond, as at the end. NaN for NaN.
inline float ShortExp(float x) {
  const float low = x < -80.0f ? -80.0f : x;
  const float z = (low > 80.0f ? 80.0f : low) * 1.44269504f;
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = (z + magic) - magic;
  const float f = z - n;
  // 2^f on [-1/2, 1/2], to 5e-6
  float p = 9.6003955e-03f;
  p = p * f + 5.5916894e-02f;
  p = p * f + 2.4023718e-01f;
  p = p * f + 6.9312199e-01f;
  p = p * f + 1.0f;
  return p * PowerOfTwo(n);
}

// 1 / x for x in [1, 2^120], to 7e-6: two Newton steps from a line through the exponent, where a
// division would take most of the time.
inline float ShortReciprocal(float x) {
  float y = __builtin_bit_cast(float, 0x7ef311c7 - __builtin_bit_cast(std::int32_t, x));
  y = y * (2.0f - x * y);
  return y * (2.0f - x * y);
}

inline float ShortSigmoid(float x) { return ShortReciprocal(1.0f + ShortExp(-x)); }

// x sigmoid(b x), and its derivative
inline float Swish(float x, float b) { return x * ShortSigmoid(b * x); }
inline float SwishSlope(float x, float b) {
  const float s = ShortSigmoid(b * x);
  return s + b * x * s * (1.0f - s);
}

struct ShortSilu {
  static float Value(float x, float) { return Swish(x, 1.0f); }
  static float Slope(float x, float) { return SwishSlope(x, 1.0f); }
};
struct ShortQuickGelu {
  static float Value(float x, float) { return Swish(x, 1.702f); }
  static float Slope(float x, float) { return SwishSlope(x, 1.702f); }
};

// x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x (1 + tanh(u)) / 2
struct ShortGeluTanh {
  static constexpr float kTwice = 1.5957691216f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = kTwice * 0.044715f;
  static float Value(float x, float) { return x * ShortSigmoid(x * (kTwice + kCubic * x * x)); }
  static float Slope(float x, float) {
    const float square = x * x;
    const float s = ShortSigmoid(x * (kTwice + kCubic * square));
    return s + x * (kTwice + 3.0f * kCubic * square) * s * (1.0f - s);
  }
};

}  // namespace
}  // namespace frugal::simd
