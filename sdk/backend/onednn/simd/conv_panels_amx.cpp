#include <algorithm>

#include "sdk/backend/onednn/simd/amx_vectors.h"
#include "sdk/backend/onednn/simd/conv_panels.h"
#include "sdk/backend/onednn/simd/prefetch.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kBlockSize = kMatrixBlock * kMatrixBlock;

constexpr std::int64_t kPlaces = 16;    // that are taken at once
constexpr std::int64_t kRowsAhead = 6;  // that are asked for: they lie too far apart to be foreseen

// Of `count` <= 32 elements, each with all its places side by side, up to 16 places: rounded[i] is
// place i of all elements, with zeros for those that are not there.
struct PlacedElements {
  const float* data;
  std::int64_t places, count, taken;
};
void RoundPlaces(const PlacedElements& from, __m512i (&rounded)[kPlaces]) {
  const __mmask32 there = FirstOf32(std::max<std::int64_t>(0, from.count));
  const auto low = static_cast<__mmask16>(there), high = static_cast<__mmask16>(there >> 16);
  if (from.places == 1) {
    rounded[0] =
        Rounded(_mm512_maskz_loadu_ps(low, from.data), _mm512_maskz_loadu_ps(high, from.data + 16));
    return;
  }
  const auto taken = static_cast<__mmask16>(FirstOf32(from.taken));
  __m512i first[16], second[16];
  for (std::int64_t i = 0; i < 16; ++i) {
    const float* const at = from.data + i * from.places;
    const __mmask16 has_first = (low >> i & 1) != 0 ? taken : __mmask16{0};
    const __mmask16 has_second = (high >> i & 1) != 0 ? taken : __mmask16{0};
    first[i] = _mm512_maskz_loadu_epi32(has_first, at);
    second[i] = _mm512_maskz_loadu_epi32(has_second, at + 16 * from.places);
  }
  TransposeWords(first);
  TransposeWords(second);
  for (std::int64_t i = 0; i < from.taken; ++i) {
    rounded[i] = Rounded(_mm512_castsi512_ps(first[i]), _mm512_castsi512_ps(second[i]));
  }
}

// Places [first, first + taken) of a block whose columns lie `places` apart.
void PackAlongColumns(const PlacedBlock& from, std::int64_t first, std::int64_t taken,
                      BFloat16* const* to) {
  __m512i even[kPlaces], odd[kPlaces];
  for (std::int64_t r = 0; r < kMatrixBlock; r += 2) {
    const float* const at = from.data + r * from.row + first;
    FetchLines(at + kRowsAhead * from.row, from.columns * from.places);
    FetchLines(at + (kRowsAhead + 1) * from.row, from.columns * from.places);
    RoundPlaces({at, from.places, r < from.rows ? from.columns : 0, taken}, even);
    RoundPlaces({at + from.row, from.places, r + 1 < from.rows ? from.columns : 0, taken}, odd);
    for (std::int64_t i = 0; i < taken; ++i) {
      const TwoPairs pairs = Paired(even[i], odd[i]);
      StorePairs(to[first + i] + 32 * r, pairs.low);
      StorePairs(to[first + i] + 32 * r + 32, pairs.high);
    }
  }
}

// The same where the rows do.
void PackAlongRows(const PlacedBlock& from, std::int64_t first, std::int64_t taken,
                   BFloat16* const* to) {
  __m512i rounded[16][kPlaces], square[16];
  for (std::int64_t c = 0; c < kMatrixBlock; c += 16) {
    for (std::int64_t i = 0; i < 16; ++i) {
      const float* const at = from.data + (c + i) * from.column + first;
      FetchLines(at + kRowsAhead * from.column, from.rows * from.places);
      RoundPlaces({at, from.places, c + i < from.columns ? from.rows : 0, taken}, rounded[i]);
    }
    for (std::int64_t place = 0; place < taken; ++place) {
      for (std::int64_t i = 0; i < 16; ++i) square[i] = rounded[i][place];
      TransposeWords(square);
      for (std::int64_t i = 0; i < 16; ++i) {
        StorePairs(to[first + place] + 64 * i + 2 * c, square[i]);
      }
    }
  }
}

}  // namespace

void PackRightBlocks(const PlacedBlock& from, BFloat16* const* to) {
  const auto pack = from.column == from.places ? PackAlongColumns : PackAlongRows;
  for (std::int64_t first = 0; first < from.places; first += kPlaces) {
    pack(from, first, std::min(kPlaces, from.places - first), to);
  }
}

void GatherLeftPanels(const LeftRows& from, std::int64_t step, BFloat16* to) {
  for (std::int64_t r = 0; r < WholeBlocks(from.count) * kMatrixBlock; ++r) {
    const BFloat16* const row = r < from.count ? from.rows[r] : nullptr;
    BFloat16* at = to + r / kMatrixBlock * step + r % kMatrixBlock * kMatrixBlock;
    for (std::int64_t c = 0; c < from.width; c += kMatrixBlock, at += kBlockSize) {
      const __mmask32 inside = FirstOf32(from.width - c);
      StorePairs(
          at, row == nullptr ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi16(inside, row + c));
    }
  }
}

void WriteSummedRows(const SummedRows& from) {
  for (std::int64_t c = 0; c < from.columns; c += kMatrixBlock) {
    const __mmask32 inside = FirstOf32(from.columns - c);
    __m512 low_bias = _mm512_setzero_ps(), high_bias = low_bias;
    if (from.bias != nullptr) {
      low_bias = _mm512_maskz_loadu_ps(static_cast<__mmask16>(inside), from.bias + c);
      if (inside >> 16 != 0) {
        high_bias = _mm512_maskz_loadu_ps(static_cast<__mmask16>(inside >> 16), from.bias + c + 16);
      }
    }
    const float* sums = from.sums + c * from.sum_rows;
    for (std::int64_t r = 0; r < from.count; ++r, sums += kMatrixBlock) {
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
