#pragma once

#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/backend/onednn/simd/vector/element.h"
#include "sdk/backend/onednn/simd/vector/math.h"

// Optimizer state of 16 and 8 bits: see sdk/backend/state_codec.h for the formats.
namespace frugal::simd {
namespace {

inline std::uint32_t StateNoise(std::uint32_t seed, std::int32_t i) {
  std::uint32_t x = seed + static_cast<std::uint32_t>(i) * 0x9e3779b9u;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

inline void WidenState(const BFloat16* x, float* y, std::int64_t n) {
#pragma omp simd
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) y[i] = Get(x[i]);
}

inline void NarrowState(const float* x, std::uint32_t seed, BFloat16* y, std::int64_t n) {
#pragma omp simd
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) {
    const std::uint32_t word = __builtin_bit_cast(std::uint32_t, x[i]);
    const std::uint32_t raised = word + (StateNoise(seed, i) >> 16);
    const std::uint32_t special = x[i] == x[i] ? word : word | 0x400000u;  // infinite, or NaN
    y[i].bits =
        static_cast<std::uint16_t>(((word & 0x7f800000u) == 0x7f800000u ? special : raised) >> 16);
  }
}

// 5^k for k in [0, 8). Without conditions, which would keep the loops from being vectorized.
inline float PowerOfFive(std::int32_t k) {
  return (1.0f + 4.0f * static_cast<float>(k & 1)) *
         (1.0f + 24.0f * static_cast<float>((k >> 1) & 1)) *
         (1.0f + 624.0f * static_cast<float>((k >> 2) & 1));
}

inline float Smaller(float a, float b) { return a < b ? a : b; }

// Holds what the codes of a sign have in common. Code c of decade k is
// 5^k 10^-K (0.9 c - 0.8 2^k + 0.45).
template <bool kSign>
struct CodeRange {
  static constexpr std::int32_t kDecades = kSign ? 6 : 7;
  static constexpr std::int32_t kLast = kSign ? 127 : 255;
  static constexpr float kUnit = kSign ? 1e-6f : 1e-7f;  // 10^-K
  static constexpr float kTop = 1.0f - 0.45f / static_cast<float>(1 << kDecades);
};

template <bool kSign>
void DecodeState(const std::uint8_t* codes, float scale, float* x, std::int64_t n) {
#pragma omp simd
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) {
    const std::int32_t byte = codes[i];
    const std::int32_t code = kSign ? byte & 127 : byte;
    const float c = static_cast<float>(code);
    const std::int32_t bits = __builtin_bit_cast(std::int32_t, c);
    const float power_of_two = __builtin_bit_cast(float, bits & 0x7f800000);
    const float part = (0.9f * c - 0.8f * power_of_two) + 0.45f;
    const float value = PowerOfFive((bits >> 23) - 127) * part * CodeRange<kSign>::kUnit;
    const float counts = Smaller(c, 1.0f);  // code 0 is 0
    const float sign = kSign ? static_cast<float>(1 - ((byte >> 6) & 2)) : 1.0f;
    x[i] = value * (counts * sign) * scale;
  }
}

// `multiple` of the largest magnitude, and where between two codes rounding turns up. The codes of
// a decade are a fifth as dense as those below it, and the step between the two decades is three
// times the one below: codes as a function of the multiple are concave, so the least of all the
// lines that they lie on.
template <bool kSign>
std::int32_t StateCode(float multiple, float threshold) {
  using Range = CodeRange<kSign>;
  const float y = multiple * (1.0f / Range::kUnit);
  float place = y * (1.0f / 0.55f);  // code 1 lies there
  float tens = 0.1f, fives = 0.45f, code = 1.0f, slope = 1.0f / 0.9f;
#pragma GCC unroll 8
  for (std::int32_t k = 1; k <= Range::kDecades; ++k) {
    tens *= 10.0f;
    fives *= 5.0f;
    code *= 2.0f;
    const float first = tens + fives;  // 10^k (0.1 + 0.45 / 2^k), of code 2^k
    const float between = slope / 3.0f;
    slope /= 5.0f;
    place = Smaller(place, y * between + (code - first * between));
    place = Smaller(place, y * slope + (code - first * slope));
  }
  return static_cast<std::int32_t>(Smaller(place + threshold, static_cast<float>(Range::kLast)));
}

inline float LargestMagnitude(const float* x, std::int64_t n) {
  std::int32_t largest = 0;  // of the bits, which have the order of the magnitudes
#pragma omp simd reduction(max : largest)
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) {
    const std::int32_t bits = __builtin_bit_cast(std::int32_t, x[i]) & 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return __builtin_bit_cast(float, largest);
}

template <bool kSign>
float EncodeState(const float* x, std::uint32_t seed, std::uint8_t* codes, std::int64_t n) {
  const float largest = LargestMagnitude(x, n);
  const bool usable = largest >= 1.17549435e-38f && largest <= 3.40282347e+38f;
  const float factor = usable ? CodeRange<kSign>::kTop / largest : 0.0f;
  // Bytes in the same loop would make it four registers wide, more than there are for it.
  std::int32_t wide[kStateBlock];
#pragma omp simd
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) {
    const std::int32_t bits = __builtin_bit_cast(std::int32_t, x[i]);
    const std::int32_t magnitude = bits & 0x7fffffff;
    const float multiple = __builtin_bit_cast(float, magnitude) * factor;
    const float threshold =
        static_cast<float>(static_cast<std::int32_t>(StateNoise(seed, i) >> 8)) * 0x1p-24f;
    const std::int32_t code = StateCode<kSign>(multiple, threshold);
    const std::int32_t least = kSign ? 0 : (magnitude < 1 ? magnitude : 1);
    const std::int32_t kept = code > least ? code : least;
    wide[i] = kSign ? kept | ((bits >> 24) & 128) : kept;
  }
#pragma omp simd
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) {
    codes[i] = static_cast<std::uint8_t>(wide[i]);
  }
  return usable ? largest / CodeRange<kSign>::kTop : 0.0f;
}

inline void Decode(const std::uint8_t* codes, float scale, StateSign sign, float* x,
                   std::int64_t n) {
  if (sign == StateSign::kSigned) return DecodeState<true>(codes, scale, x, n);
  DecodeState<false>(codes, scale, x, n);
}

inline float Encode(const float* x, std::uint32_t seed, StateSign sign, std::uint8_t* codes,
                    std::int64_t n) {
  return sign == StateSign::kSigned ? EncodeState<true>(x, seed, codes, n)
                                    : EncodeState<false>(x, seed, codes, n);
}

inline constexpr StateCodec kStateCodec{WidenState, NarrowState, Decode, Encode};

}  // namespace
}  // namespace frugal::simd
