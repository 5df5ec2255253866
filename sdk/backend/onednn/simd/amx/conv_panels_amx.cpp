#include <algorithm>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/conv_panels.h"
#include "sdk/backend/onednn/simd/vector/prefetch.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kAmxBlock * kAmxBlock;

constexpr std::int64_t kRowsAhead = 6;  // that are asked for: they lie too far apart to be foreseen

// Names up to 32 elements, each with its places side by side. RoundPlaces makes rounded[i] the i-th
// place of all, with zeros for elements that are not there.
struct PlacedElements {
  const float* data;
  std::int64_t count;
};
using Places = __m512i[kPointsAtOnce];
void RoundPlaces(const PlacedBlock& block, const PlacedElements& from, Places& rounded) {
  const __mmask32 there = FirstOf32(std::max<std::int64_t>(0, from.count));
  const auto low = static_cast<__mmask16>(there), high = static_cast<__mmask16>(there >> 16);
  if (block.places == 1) {
    rounded[0] =
        Rounded(_mm512_maskz_loadu_ps(low, from.data), _mm512_maskz_loadu_ps(high, from.data + 16));
    return;
  }
  const auto taken = static_cast<__mmask16>(FirstOf32(block.taken));
  __m512i first[16], second[16];
  for (std::int64_t i = 0; i < 16; ++i) {
    const float* const at = from.data + i * block.places;
    const __mmask16 has_first = (low >> i & 1) != 0 ? taken : __mmask16{0};
    const __mmask16 has_second = (high >> i & 1) != 0 ? taken : __mmask16{0};
    first[i] = _mm512_maskz_loadu_epi32(has_first, at);
    second[i] = _mm512_maskz_loadu_epi32(has_second, at + 16 * block.places);
  }
  TransposeWords(first);
  TransposeWords(second);
  for (std::int64_t i = 0; i < block.taken; ++i) {
    rounded[i] = Rounded(_mm512_castsi512_ps(first[i]), _mm512_castsi512_ps(second[i]));
  }
}

// Packs a block whose columns lie `places` apart.
void PackAlongColumns(const PlacedBlock& from, BFloat16* const* to) {
  Places even, odd;
  for (std::int64_t r = 0; r < kAmxBlock; r += 2) {
    const float* const at = from.data + r * from.row;
    FetchLines(at + kRowsAhead * from.row, from.columns * from.places);
    FetchLines(at + (kRowsAhead + 1) * from.row, from.columns * from.places);
    RoundPlaces(from, {at, r < from.rows ? from.columns : 0}, even);
    RoundPlaces(from, {at + from.row, r + 1 < from.rows ? from.columns : 0}, odd);
    for (std::int64_t i = 0; i < from.taken; ++i) {
      const TwoPairs pairs = Paired(even[i], odd[i]);
      StorePairs(to[i] + 32 * r, pairs.low);
      StorePairs(to[i] + 32 * r + 32, pairs.high);
    }
  }
}

// Packs a block whose rows lie `places` apart.
void PackAlongRows(const PlacedBlock& from, BFloat16* const* to) {
  Places rounded[16];
  __m512i square[16];
  for (std::int64_t c = 0; c < kAmxBlock; c += 16) {
    for (std::int64_t i = 0; i < 16; ++i) {
      const float* const at = from.data + (c + i) * from.column;
      FetchLines(at + kRowsAhead * from.column, from.rows * from.places);
      RoundPlaces(from, {at, c + i < from.columns ? from.rows : 0}, rounded[i]);
    }
    for (std::int64_t place = 0; place < from.taken; ++place) {
      for (std::int64_t i = 0; i < 16; ++i) square[i] = rounded[i][place];
      TransposeWords(square);
      for (std::int64_t i = 0; i < 16; ++i) StorePairs(to[place] + 64 * i + 2 * c, square[i]);
    }
  }
}

}  // namespace

void PackRightBlocks(const PlacedBlock& from, BFloat16* const* to) {
  if (from.column == from.places) {
    PackAlongColumns(from, to);
  } else {
    PackAlongRows(from, to);
  }
}

void GatherLeftPanels(const LeftRows& from, std::int64_t step, BFloat16* to) {
  for (std::int64_t r = 0; r < WholeBlocks(from.count) * kAmxBlock; ++r) {
    const BFloat16* const row = r < from.count ? from.rows[r] : nullptr;
    BFloat16* at = to + r / kAmxBlock * step + r % kAmxBlock * kAmxBlock;
    for (std::int64_t c = 0; c < from.width; c += kAmxBlock, at += kBlockSize) {
      const __mmask32 inside = FirstOf32(from.width - c);
      StorePairs(
          at, row == nullptr ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi16(inside, row + c));
    }
  }
}

void WriteSummedRows(const SummedRows& from) {
  for (std::int64_t c = 0; c < from.columns; c += kAmxBlock) {
    const __mmask32 inside = FirstOf32(from.columns - c);
    __m512 low_bias = _mm512_setzero_ps(), high_bias = low_bias;
    if (from.bias != nullptr) {
      low_bias = _mm512_maskz_loadu_ps(static_cast<__mmask16>(inside), from.bias + c);
      if (inside >> 16 != 0) {
        high_bias = _mm512_maskz_loadu_ps(static_cast<__mmask16>(inside >> 16), from.bias + c + 16);
      }
    }
    const float* sums = from.sums + c * from.sum_rows;
    for (std::int64_t r = 0; r < from.count; ++r, sums += kAmxBlock) {
      __m512 low = _mm512_add_ps(_mm512_loadu_ps(sums), low_bias);
      __m512 high = _mm512_add_ps(_mm512_loadu_ps(sums + 16), high_bias);
      if (from.relu) {  // not a number stays so
        low = _mm512_max_ps(_mm512_setzero_ps(), low);
        high = _mm512_max_ps(_mm512_setzero_ps(), high);
      }
      _mm512_mask_storeu_epi16(from.rows[r] + c, inside, Rounded(low, high));
    }
  }
}

}  // namespace frugal::simd
