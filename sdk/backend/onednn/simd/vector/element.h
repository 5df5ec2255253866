#pragma once

#include "sdk/core/bfloat16.h"

// Reading and writing an element of a tensor as f32. See all_bodies.h for the unnamed namespace,
// which is also why BFloat16's own conversions are not used here.
namespace frugal::simd {
namespace {

inline float Get(float x) { return x; }
inline float Get(BFloat16 x) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16);
}

inline void Put(float& to, float value) { to = value; }
// Rounds to the nearest, ties to even.
inline void Put(BFloat16& to, float value) {
  const std::uint32_t word = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = word + 0x7fffU + ((word >> 16) & 1U);
  const std::uint32_t kept = value == value ? rounded : word | 0x400000U;
  to.bits = static_cast<std::uint16_t>(kept >> 16);
}

}  // namespace
}  // namespace frugal::simd
