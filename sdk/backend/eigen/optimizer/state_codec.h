#pragma once

#include "sdk/backend/state_codec.h"

namespace frugal::eigen {

// 32 random bits for element i of a block: the mixing function "lowbias32" (C. Wellons, Prospecting
// for Hash Functions, 2018) of a Weyl sequence.
constexpr std::uint32_t StateNoise(std::uint32_t seed, std::int64_t i) {
  std::uint32_t x = seed + static_cast<std::uint32_t>(i) * 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

// The conversions in their plain form, by a table of all codes.
const StateCodec& PlainStateCodec();

}  // namespace frugal::eigen
