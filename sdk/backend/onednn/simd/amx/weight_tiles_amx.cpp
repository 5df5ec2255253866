#include <algorithm>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/weight_tiles.h"
#include "sdk/backend/onednn/simd/vector/prefetch.h"

namespace frugal::simd {
namespace {

constexpr std::int64_t kPairs = kTileInputs / 2;
constexpr std::int64_t kTileRow = 2 * kTileOutputs;  // a pair of inputs for all outputs

inline __m512 FirstFloats(const float* from, std::int64_t count) {
  const auto inside = static_cast<__mmask16>(FirstOf32(std::clamp<std::int64_t>(count, 0, 16)));
  return _mm512_maskz_loadu_ps(inside, from);
}

// Past the caches: a step reads the copy again long after.
inline void Stream(BFloat16* to, __m512i pairs) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), pairs);
}

// A square of 8 rows of 8 elements of 64 bits, in place.
inline void TransposeQuads(__m512i (&rows)[8]) {
  __m512i two[8], four[8];
  for (int i = 0; i < 8; i += 2) {
    two[i] = _mm512_unpacklo_epi64(rows[i], rows[i + 1]);
    two[i + 1] = _mm512_unpackhi_epi64(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      four[i + j] = _mm512_shuffle_i64x2(two[i + j], two[i + j + 2], 0x88);
      four[i + j + 2] = _mm512_shuffle_i64x2(two[i + j], two[i + j + 2], 0xdd);
    }
  }
  // four[j], four[j + 4]: columns j and j + 4 of rows 0 to 3, and of rows 4 to 7
  for (int j = 0; j < 4; ++j) {
    rows[j] = _mm512_shuffle_i64x2(four[j], four[j + 4], 0x88);
    rows[j + 4] = _mm512_shuffle_i64x2(four[j], four[j + 4], 0xdd);
  }
}

// Writes 32 inputs and 32 outputs as 16 rows of 32 transposed pairs, kTileRow apart.
void TransposeHalf(const BFloat16* from, BFloat16* to) {
  // (a0 a1)(b0 b1), two inputs of two outputs, becomes (a0 b0)(a1 b1)
  const __m512i order = _mm512_set4_epi32(0x0f0e0b0a, 0x0d0c0908, 0x07060302, 0x05040100);
  for (std::int64_t pair = 0; pair < kPairs; pair += 8) {
    for (std::int64_t out = 0; out < 32; out += 16) {
      __m512i square[8];
      for (int i = 0; i < 8; ++i) {
        square[i] = _mm512_shuffle_epi8(LoadPairs(from + (pair + i) * kTileRow + 2 * out), order);
      }
      TransposeQuads(square);
      for (int i = 0; i < 8; ++i) {
        StorePairs(to + (out / 2 + i) * kTileRow + 4 * pair, square[i]);
      }
    }
  }
}

}  // namespace

void TransposeTiles(const BFloat16* tile, std::int64_t step, bool has_second, std::int64_t outputs,
                    BFloat16* transposed) {
  for (std::int64_t out = 0; out < outputs; out += 32, transposed += kTileSize) {
    const BFloat16* const row = tile + out / kTileOutputs * step;
    const BFloat16* const from = row + 2 * (out % kTileOutputs);
    // One of the next outputs' two tiles, a half of this step's; rows of tiles lie far apart.
    FetchLines(row + step + (out % kTileOutputs == 0 ? 0 : kTileSize), kTileSize);
    FetchAhead(transposed, kTileSize);
    TransposeHalf(from, transposed);
    if (has_second) {
      TransposeHalf(from + kTileSize, transposed + kTileRow / 2);
    } else {
      for (std::int64_t pair = 0; pair < kPairs; ++pair) {
        std::fill_n(transposed + pair * kTileRow + kTileRow / 2, kTileRow / 2, BFloat16());
      }
    }
  }
}

void PackTileOutIn(const WeightPart& from, BFloat16* tile) {
  for (std::int64_t out = 0; out < kTileOutputs; out += 16) {
    __m512i square[16];
    for (int i = 0; i < 16; ++i) {
      const float* const row = from.data + (out + i) * from.row;
      const std::int64_t inputs = out + i < from.outputs ? from.inputs : 0;
      square[i] = Rounded(FirstFloats(row, inputs), FirstFloats(row + 16, inputs - 16));
    }
    TransposeWords(square);
    for (int i = 0; i < 16; ++i) Stream(tile + i * kTileRow + 2 * out, square[i]);
  }
}

void PackTileInOut(const WeightPart& from, BFloat16* tile) {
  for (std::int64_t pair = 0; pair < kPairs; ++pair) {
    const float* const row = from.data + 2 * pair * from.row;
    const std::int64_t even = 2 * pair < from.inputs ? from.outputs : 0;
    const std::int64_t odd = 2 * pair + 1 < from.inputs ? from.outputs : 0;
    for (std::int64_t out = 0; out < kTileOutputs; out += 16) {
      const __m512 low = FirstFloats(row + out, even - out);
      const __m512 high = FirstFloats(row + from.row + out, odd - out);
      Stream(tile + pair * kTileRow + 2 * out, Interleaved(Rounded(low, high)));
    }
  }
}

void FinishTiles() { _mm_sfence(); }

void UnpackTiles(const BFloat16* tile, std::int64_t step, std::int64_t outputs, BFloat16* panel) {
  const __m512i even =
      _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                       24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_add_epi16(even, _mm512_set1_epi16(1));
  for (std::int64_t out = 0; out < outputs; out += 32) {
    const BFloat16* from = tile + out / kTileOutputs * step + 2 * (out % kTileOutputs);
    for (std::int64_t pair = 0; pair < kPairs; ++pair, from += kTileRow, panel += 64) {
      const __m512i low = LoadPairs(from), high = LoadPairs(from + 32);
      StorePairs(panel, _mm512_permutex2var_epi16(low, even, high));
      StorePairs(panel + 32, _mm512_permutex2var_epi16(low, odd, high));
    }
  }
}

}  // namespace frugal::simd
