#include <algorithm>
#include <cstring>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/attention_amx.h"
#include "sdk/backend/onednn/simd/amx/split_panels.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kAmxBlock * kAmxBlock;
constexpr std::size_t kBlockBytes = kBlockSize * sizeof(BFloat16);

// Up to 32 rows of up to 32 elements.
struct Block {
  const float* data;
  std::int64_t row, rows, columns;
};

// Nothing is left of what is infinite or not a number. (An infinite number times the low part of
// another, which may be 0, makes the product not a number.)
inline __m512 Rest(__m512 value, __m512 high) {
  constexpr int kNotFinite = 0x99;
  return _mm512_maskz_sub_ps(static_cast<__mmask16>(~_mm512_fpclass_ps_mask(high, kNotFinite)),
                             value, high);
}

// Zeros for what is not there.
void Split(const Block& from, BFloat16* high, BFloat16* low) {
  const __mmask32 inside = FirstOf32(from.columns);
  const auto first = static_cast<__mmask16>(inside);
  const auto second = static_cast<__mmask16>(inside >> 16);
  for (std::int64_t r = 0; r < from.rows; ++r, high += kAmxBlock, low += kAmxBlock) {
    const float* const row = from.data + r * from.row;
    const __m512 a = _mm512_maskz_loadu_ps(first, row);
    const __m512 b = second == 0 ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(second, row + 16);
    const __m512i rounded = Rounded(a, b);
    StorePairs(high, rounded);
    const __m512 high_a = CastToF32(_mm512_castsi512_si256(rounded));
    const __m512 high_b = CastToF32(_mm512_extracti64x4_epi64(rounded, 1));
    StorePairs(low, Rounded(Rest(a, high_a), Rest(b, high_b)));
  }
  const auto missing = static_cast<std::size_t>(kAmxBlock - from.rows) * kAmxBlock;
  std::fill_n(high, missing, BFloat16{});
  std::fill_n(low, missing, BFloat16{});
}

// place(high, low, at, step) of each block, which writes three blocks `step` apart.
template <class Place>
void ForBlocks(const SplitRows& from, BFloat16* to, const Place& place) {
  const std::int64_t across = WholeBlocks(from.depth), step = across * kBlockSize;
  for (std::int64_t w = 0; w < from.width; w += kAmxBlock) {
    for (std::int64_t d = 0; d < from.depth; d += kAmxBlock) {
      const std::int64_t width = std::min(kAmxBlock, from.width - w);
      const std::int64_t depth = std::min(kAmxBlock, from.depth - d);
      const Block block = from.depth_in_rows
                              ? Block{from.data + d * from.row + w, from.row, depth, width}
                              : Block{from.data + w * from.row + d, from.row, width, depth};
      place(block, to + (3 * w / kAmxBlock * across + d / kAmxBlock) * kBlockSize, step);
    }
  }
}

}  // namespace

void PackSplitLeftPanels(const SplitRows& from, BFloat16* to) {
  ForBlocks(from, to, [&](const Block& block, BFloat16* at, std::int64_t step) {
    BFloat16* const low_at = at + 2 * step;
    if (from.depth_in_rows) {
      alignas(64) BFloat16 high[kBlockSize], low[kBlockSize];
      Split(block, high, low);
      TransposeMatrix({high, kAmxBlock, kAmxBlock, kAmxBlock}, at, kAmxBlock);
      TransposeMatrix({low, kAmxBlock, kAmxBlock, kAmxBlock}, low_at, kAmxBlock);
    } else {
      Split(block, at, low_at);
    }
    std::memcpy(at + step, at, kBlockBytes);
  });
}

void PackSplitRightPanels(const SplitRows& from, BFloat16* to) {
  ForBlocks(from, to, [&](const Block& block, BFloat16* at, std::int64_t step) {
    alignas(64) BFloat16 high[kBlockSize], low[kBlockSize];
    Split(block, high, low);
    const AmxRows highs{high, kAmxBlock, kAmxBlock, kAmxBlock};
    const AmxRows lows{low, kAmxBlock, kAmxBlock, kAmxBlock};
    if (from.depth_in_rows) {
      PairRows(highs, at);
      PairRows(lows, at + step);
    } else {
      PairColumns(highs, at);
      PairColumns(lows, at + step);
    }
    std::memcpy(at + 2 * step, at, kBlockBytes);
  });
}

}  // namespace frugal::simd
