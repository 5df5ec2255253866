#include "sdk/core/half.h"

#include <bit>
#include <cmath>

namespace frugal {
namespace {

constexpr std::uint32_t kSignBit = 0x80000000u;

std::uint16_t Narrow(std::uint32_t bits) { return static_cast<std::uint16_t>(bits); }

// Drops the low `count` bits, rounding to nearest and ties to even.
std::uint32_t RoundOff(std::uint32_t bits, unsigned count) {
  const std::uint32_t odd = (bits >> count) & 1u;
  return (bits + (1u << (count - 1)) - 1u + odd) >> count;
}

}  // namespace

float ToFloat(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t rest = value.bits & 0x7fffu;
  if (rest < 0x0400u) {  // zero and subnormals: multiples of 2^-24, which a float holds exactly
    const float magnitude = static_cast<float>(rest) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  return std::bit_cast<float>(sign | ((rest << 13) + (112u << 23)));  // exponent bias 15 -> 127
}

Half ToHalf(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits & kSignBit) >> 16;
  const std::uint32_t rest = bits & ~kSignBit;
  if (rest > 0x7f800000u) return {Narrow(sign | 0x7e00u | (rest >> 13 & 0x3ffu))};
  if (rest >= 0x477ff000u) return {Narrow(sign | 0x7c00u)};  // from 65520 on: infinite
  if (rest < 0x38800000u) {  // below 2^-14: subnormal, a multiple of 2^-24; 2^24 * |x| is exact
    const float steps = std::nearbyint(std::fabs(value) * 0x1p24f);
    return {Narrow(sign | static_cast<std::uint32_t>(steps))};
  }
  return {Narrow(sign | RoundOff(rest - (112u << 23), 13))};
}

}  // namespace frugal
