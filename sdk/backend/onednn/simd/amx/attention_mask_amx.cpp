#include <algorithm>
#include <cmath>
#include <numbers>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"

namespace frugal::simd {
namespace {

// The columns of 16 that come before `end`.
inline __mmask16 FirstOf16(std::int64_t end) {
  return end <= 0 ? __mmask16{0} : end >= 16 ? __mmask16{0xffff} : __mmask16((1U << end) - 1);
}

// Keys k to k + 15 of the mask at column c, 0 outside.
inline __m512 MaskAt(const AmxMask& mask, std::int64_t c, std::int64_t k) {
  const __mmask16 inside = c < mask.columns ? FirstOf16(mask.keys - k) : __mmask16{0};
  if (mask.floats != nullptr) {
    return _mm512_maskz_loadu_ps(inside, mask.floats + (inside == 0 ? 0 : c * mask.row + k));
  }
  const __m256i halves =
      _mm256_maskz_loadu_epi16(inside, mask.halves + (inside == 0 ? 0 : c * mask.row + k));
  return CastToF32(halves);
}

inline void AddSquare(const AmxScores& tile, float scale, const AmxMask& mask, std::int64_t k,
                      std::int64_t c) {
  const bool masked = mask.floats != nullptr || mask.halves != nullptr;
  __m512i square[16] = {};
  for (int i = 0; masked && i < 16; ++i) square[i] = _mm512_castps_si512(MaskAt(mask, c + i, k));
  TransposeWords(square);
  const __m512 unit = _mm512_set1_ps(std::numbers::log2e_v<float>);
  for (int i = 0; i < 16; ++i) {
    float* const at = tile.scores + (k + i) * tile.row + c;
    const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(at), _mm512_set1_ps(scale));
    _mm512_storeu_ps(at, _mm512_fmadd_ps(_mm512_castsi512_ps(square[i]), unit, scaled));
  }
}

}  // namespace

void AddMask(const AmxScores& tile, float scale, const AmxMask& mask) {
  for (std::int64_t k = 0; k < tile.keys; k += 16) {
    for (std::int64_t c = 0; c < tile.columns; c += 16) AddSquare(tile, scale, mask, k, c);
  }
}

void HideKeys(const AmxScores& tile, std::int64_t shift, std::int64_t seen) {
  const __m512 none = _mm512_set1_ps(-HUGE_VALF);
  float* row = tile.scores;
  for (std::int64_t k = 0; k < tile.keys; ++k, row += tile.row) {
    const std::int64_t end = std::min(k < seen ? k + shift : tile.columns, tile.columns);
    for (std::int64_t c = 0; c < end; c += 16) {
      _mm512_mask_storeu_ps(row + c, FirstOf16(end - c), none);
    }
  }
}

}  // namespace frugal::simd
