#pragma once

#include <bit>
#include <cstdint>

#include "sdk/core/dtype.h"

namespace frugal {

// The upper half of an f32: its 8 exponent bits and 7 of its 23 fraction bits. A storage type;
// arithmetic is done in f32.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  // Rounds to the nearest, ties to even, as the processor's own conversion does; NaN stays NaN.
  explicit BFloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const bool nan = (word & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t rounded = word + 0x7fffU + ((word >> 16) & 1U);
    bits = static_cast<std::uint16_t>((nan ? word | 0x400000U : rounded) >> 16);
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  bool operator==(const BFloat16&) const = default;  // of the bits
};

template <>
constexpr DType DTypeOf<BFloat16>() {
  return DType::kBF16;
}

}  // namespace frugal
