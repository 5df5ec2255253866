#pragma once

#include <cstdint>

#include "sdk/core/bfloat16.h"

// Optimizer state in fewer bytes than f32. It is computed in f32 and rounded when it is stored, at
// random: up with the probability of the distance to the number below. To the nearest, a moment
// that moves by less than half a step of its format would stand still, as the second moment of Adam
// does in bf16 (a step moves it by up to 1 - beta2 = 0.1%, while bf16 has steps of 0.4-0.8%); at
// random, its mean over steps goes where the sum in f32 goes.
//
// 8 bits: block-wise dynamic quantization (Dettmers et al., arXiv:2110.02861, section 2). The
// elements of a block are multiples of the block's largest magnitude, in decades: code c in
// [2^k, 2^(k+1)) lies in the decade below 10^(k+1-K), which its 2^k codes divide evenly, each being
// the middle of its part; 0 is 0. K is 7 for values without sign (codes 1-255), 6 for those with
// one (1-127; bit 7 is the sign). Three things are not as there:
// - Blocks have 256 elements, not 2048: one large element spoils fewer others, the scales cost 1.6%
//   more, and a block in f32 stays in the first-level cache between its passes.
// - The scale is such that the last code, 1 - 0.45 / 2^K, is the largest magnitude to the bit; the
//   paper spends a code on 1, and has none for -1.
// - A positive value without sign is never stored as 0: the second moment divides the first, and
//   nothing but epsilon would be left of it.
namespace frugal {

inline constexpr std::int64_t kStateBlock = 256;

constexpr std::int64_t StateBlocks(std::int64_t elements) {
  return (elements + kStateBlock - 1) / kStateBlock;
}
// A kU8 tensor of so many bytes holds `elements` codes, up to 3 bytes of nothing, and an f32 scale
// for each block. All bytes 0 are all elements 0.
constexpr std::int64_t StateScalesOffset(std::int64_t elements) { return (elements + 3) / 4 * 4; }
constexpr std::int64_t BlockStateBytes(std::int64_t elements) {
  return StateScalesOffset(elements) + 4 * StateBlocks(elements);
}

enum class StateSign : std::uint8_t { kSigned, kUnsigned };

// Conversions of at most one block. Element i of it is rounded by StateNoise(seed, i).
struct StateCodec {
  void (*widen)(const BFloat16* x, float* y, std::int64_t n);
  void (*narrow)(const float* x, std::uint32_t seed, BFloat16* y, std::int64_t n);
  void (*decode)(const std::uint8_t* codes, float scale, StateSign sign, float* x, std::int64_t n);
  // Returns the scale. A block whose largest magnitude is not a normal f32 number becomes 0.
  float (*encode)(const float* x, std::uint32_t seed, StateSign sign, std::uint8_t* codes,
                  std::int64_t n);
};

}  // namespace frugal
