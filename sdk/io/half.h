#pragma once

#include <cstdint>

namespace frugal {

// Two 16-bit floating-point types, as bits: IEEE 754 binary16, and the upper half of a binary32.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

// Exact.
float ToFloat(Half value);
float ToFloat(BFloat16 value);

// Round to nearest, ties to even; too large becomes infinite, NaN stays NaN.
Half ToHalf(float value);
BFloat16 ToBFloat16(float value);

}  // namespace frugal
