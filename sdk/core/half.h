#pragma once

#include <cstdint>

namespace frugal {

// IEEE 754 binary16, as bits.
struct Half {
  std::uint16_t bits;
};

// Exact.
float ToFloat(Half value);

// Round to nearest, ties to even; too large becomes infinite, NaN stays NaN.
Half ToHalf(float value);

}  // namespace frugal
