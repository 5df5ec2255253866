#pragma once

#include <immintrin.h>

#include <cstdint>

#include "sdk/backend/onednn/simd/amx/amx_session.h"
#include "sdk/backend/onednn/simd/vector/vector.h"

// Vectors of 16 floats or 32 bf16.
namespace frugal::simd {
namespace {

// 2^x; 0 for -infinity, NaN for NaN. Relative error below 8e-5, which is a twenty-fifth of what
// rounding to bf16 makes. Minimax polynomial of 2^f on [0, 1].
inline __m512 ShortPowerOfTwo(__m512 x) {
  const __m512 f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF);
  __m512 p = _mm512_set1_ps(7.802452e-2f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.2606716e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.9583354e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.9992522e-1f));
  return _mm512_scalef_ps(p, x);
}

// Rounded: first all of `low`, then all of `high`.
inline __m512i Rounded(__m512 low, __m512 high) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

inline __m512 CastToF32(__m256i halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

// Element i of the first half, then element i of the second half.
inline __m512i Interleaved(__m512i halves) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, halves);
}

// Pairs of the elements of two rows: of columns 0 to 15, and of 16 to 31.
struct TwoPairs {
  __m512i low, high;
};
inline TwoPairs Paired(__m512i even, __m512i odd) {
  const __m512i low = _mm512_shuffle_i64x2(even, odd, 0x44);
  const __m512i high = _mm512_shuffle_i64x2(even, odd, 0xee);
  return {Interleaved(low), Interleaved(high)};
}

// A square of 16 rows of 16 elements of 32 bits, in place.
inline void TransposeWords(__m512i (&rows)[16]) {
  Vector square[16];
  for (int i = 0; i < 16; ++i) square[i] = reinterpret_cast<Vector>(rows[i]);
  Transpose(square);
  for (int i = 0; i < 16; ++i) rows[i] = reinterpret_cast<__m512i>(square[i]);
}

inline __m512i LoadPairs(const BFloat16* from) { return _mm512_loadu_si512(from); }
inline void StorePairs(BFloat16* to, __m512i pairs) { _mm512_storeu_si512(to, pairs); }

// The first `count` of 32 elements.
inline __mmask32 FirstOf32(std::int64_t count) {
  return count >= 32 ? ~__mmask32{0} : (__mmask32{1} << count) - 1;
}

}  // namespace
}  // namespace frugal::simd
