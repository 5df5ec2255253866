#include <algorithm>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"

namespace frugal::simd {
namespace {

inline __m512 LowHalves(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
inline __m512 HighHalves(__m512i pairs) {
  return _mm512_castsi512_ps(
      _mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000U))));
}

}  // namespace

void ScaleAmxColumns(const float* factor, std::int64_t rows, std::int64_t columns, float* x) {
  for (std::int64_t r = 0; r < rows; ++r, x += columns) {
    for (std::int64_t c = 0; c < columns; c += 16) {
      _mm512_storeu_ps(x + c, _mm512_mul_ps(_mm512_loadu_ps(x + c), _mm512_loadu_ps(factor + c)));
    }
  }
}

void DotRows(const AmxRows& a, const AmxRows& b, float* sums) {
  for (std::int64_t r = 0; r < a.count; ++r) {
    __m512 low = _mm512_setzero_ps(), high = low;
    for (std::int64_t c = 0; c < a.width; c += 32) {
      const __mmask32 inside = FirstOf32(a.width - c);
      const __m512i left = _mm512_maskz_loadu_epi16(inside, a.data + r * a.row + c);
      const __m512i right = _mm512_maskz_loadu_epi16(inside, b.data + r * b.row + c);
      low = _mm512_fmadd_ps(LowHalves(left), LowHalves(right), low);
      high = _mm512_fmadd_ps(HighHalves(left), HighHalves(right), high);
    }
    sums[r] = _mm512_reduce_add_ps(_mm512_add_ps(low, high));
  }
}

void WriteTransposed(const TransposedRows& t) {
  for (std::int64_t c = 0; c < t.count; c += 16) {
    const __m512 factor = _mm512_loadu_ps(t.factor + c);
    for (std::int64_t r = 0; r < t.width; r += 32) {
      const float* from = t.from + r * t.row + c;
      __m512i square[16];
      for (int i = 0; i < 16; ++i, from += 2 * t.row) {
        const __m512 even = _mm512_mul_ps(_mm512_loadu_ps(from), factor);
        const __m512 odd = _mm512_mul_ps(_mm512_loadu_ps(from + t.row), factor);
        square[i] = Interleaved(Rounded(even, odd));
      }
      TransposeWords(square);
      const __mmask32 inside = FirstOf32(t.width - r);
      for (std::int64_t i = 0; i < std::min<std::int64_t>(16, t.count - c); ++i) {
        _mm512_mask_storeu_epi16(t.to + (c + i) * t.to_row + r, inside, square[i]);
      }
    }
  }
}

void WriteRounded(const RoundedRows& rows) {
  const __m512 factor = _mm512_set1_ps(rows.factor);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float* const from = rows.from + r * rows.from_row;
    for (std::int64_t c = 0; c < rows.width; c += 32) {
      const __m512 low = _mm512_mul_ps(_mm512_loadu_ps(from + c), factor);
      const __m512 high = _mm512_mul_ps(_mm512_loadu_ps(from + c + 16), factor);
      _mm512_mask_storeu_epi16(rows.to + r * rows.to_row + c, FirstOf32(rows.width - c),
                               Rounded(low, high));
    }
  }
}

}  // namespace frugal::simd
