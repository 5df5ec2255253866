#include <numbers>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"
#include "sdk/backend/onednn/simd/amx/swish.h"
#include "sdk/backend/onednn/simd/vector/prefetch.h"

namespace frugal::simd {
namespace {

struct Constants {
  __m512 linear, cubic;  // of the argument, in units of -ln 2
};

Constants ConstantsOf(const Swish& f) {
  const float unit = -std::numbers::log2e_v<float>;
  return {_mm512_set1_ps(f.linear * unit), _mm512_set1_ps(f.cubic * unit)};
}

// 2^x for x below 128, to 5e-6: minimax polynomial of 2^f on [-1/2, 1/2]
inline __m512 PowerOfTwo(__m512 x) {
  const __m512 f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEAREST_INT);
  __m512 p = _mm512_set1_ps(9.6003955e-03f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.5916894e-02f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.4023718e-01f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.9312199e-01f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(p, _mm512_sub_ps(x, f));
}

// 1 / (1 + 2^-u), to 1e-5: a Newton step from the processor's estimate
inline __m512 Sigmoid(__m512 minus_u) {
  const __mmask16 above_0 =
      _mm512_cmp_ps_mask(minus_u, _mm512_set1_ps(126.0f), _CMP_NGE_UQ);  // or NaN
  const __m512 d = _mm512_add_ps(_mm512_set1_ps(1.0f), PowerOfTwo(minus_u));
  const __m512 y = _mm512_rcp14_ps(d);
  return _mm512_maskz_mul_ps(above_0, y, _mm512_fnmadd_ps(d, y, _mm512_set1_ps(2.0f)));
}

// Far beyond where sigmoids end; infinity times nothing would be no number.
inline __m512 Square(__m512 x) { return _mm512_min_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(1e6f)); }

inline __m512 Value(const Constants& c, __m512 x) {
  const __m512 slope = _mm512_fmadd_ps(c.cubic, Square(x), c.linear);
  return _mm512_mul_ps(x, Sigmoid(_mm512_mul_ps(x, slope)));
}

// s + x u'(x) s (1 - s)
inline __m512 Slope(const Constants& c, __m512 x) {
  const __m512 cubic = _mm512_mul_ps(c.cubic, Square(x));
  const __m512 s = Sigmoid(_mm512_mul_ps(x, _mm512_add_ps(cubic, c.linear)));
  const __m512 inner = _mm512_fmadd_ps(_mm512_set1_ps(3.0f), cubic, c.linear);
  const __m512 bell = _mm512_fnmadd_ps(s, s, s);
  const __m512 back = _mm512_set1_ps(-std::numbers::ln2_v<float>);
  return _mm512_fmadd_ps(_mm512_mul_ps(_mm512_mul_ps(x, back), inner), bell, s);
}

// combine(16 elements of x, the first of them) for all n
template <class Combine>
inline void ForHalves(const BFloat16* x, BFloat16* y, std::int64_t n, const Combine& combine) {
  for (std::int64_t i = 0; i < n; i += 32) {
    const __mmask32 inside = FirstOf32(n - i);
    FetchAhead(x + i, 32);
    FetchAhead(y + i, 32);
    const __m512i pairs = _mm512_maskz_loadu_epi16(inside, x + i);
    const __m512i rounded = combine(inside, i, CastToF32(_mm512_castsi512_si256(pairs)),
                                    CastToF32(_mm512_extracti64x4_epi64(pairs, 1)));
    _mm512_mask_storeu_epi16(y + i, inside, rounded);
  }
}

}  // namespace

void SwishForward(const Swish& f, const BFloat16* x, BFloat16* y, std::int64_t n) {
  const Constants c = ConstantsOf(f);
  ForHalves(x, y, n, [&](__mmask32, std::int64_t, __m512 low, __m512 high) {
    return Rounded(Value(c, low), Value(c, high));
  });
}

void SwishBackward(const Swish& f, const BFloat16* dy, const BFloat16* x, BFloat16* dx,
                   std::int64_t n) {
  const Constants c = ConstantsOf(f);
  ForHalves(x, dx, n, [&](__mmask32 inside, std::int64_t i, __m512 low, __m512 high) {
    const __m512i pairs = _mm512_maskz_loadu_epi16(inside, dy + i);
    return Rounded(_mm512_mul_ps(CastToF32(_mm512_castsi512_si256(pairs)), Slope(c, low)),
                   _mm512_mul_ps(CastToF32(_mm512_extracti64x4_epi64(pairs, 1)), Slope(c, high)));
  });
}

}  // namespace frugal::simd
