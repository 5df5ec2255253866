#include <algorithm>

#include "sdk/backend/onednn/simd/amx_vectors.h"
#include "sdk/backend/onednn/simd/weight_tiles.h"

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

}  // namespace

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
