#include <cmath>

#include "sdk/backend/onednn/simd/amx/amx_vectors.h"

namespace frugal::simd {
namespace {

// The reference for the next scores, with which state.factor is set. What is taken off the scores
// is returned: a number also where no key was seen.
inline __m512 MoveReference(__m512 largest, const AmxSoftmax& state, std::int64_t column,
                            __mmask16& moved) {
  const __m512 none = _mm512_set1_ps(-HUGE_VALF), zero = _mm512_setzero_ps();
  const __m512 before = _mm512_loadu_ps(state.reference + column);
  const __m512 bound = _mm512_add_ps(before, _mm512_set1_ps(8));
  const __mmask16 moves = _mm512_cmp_ps_mask(largest, bound, _CMP_GT_OQ);
  const __m512 after = _mm512_mask_mov_ps(before, moves, largest);
  const __mmask16 rescales = moves & _mm512_cmp_ps_mask(before, none, _CMP_NEQ_OQ);
  const __m512 taken = _mm512_mask_mov_ps(after, _mm512_cmp_ps_mask(after, none, _CMP_EQ_OQ), zero);
  _mm512_storeu_ps(state.reference + column, after);
  const __m512 factor = ShortPowerOfTwo(_mm512_sub_ps(before, taken));
  _mm512_storeu_ps(state.factor + column, _mm512_mask_mov_ps(_mm512_set1_ps(1), rescales, factor));
  moved |= rescales;
  return taken;
}

// 32 columns of scores.
struct Largest32 {
  __m512 low, high;
};
inline Largest32 LargestScores(const float* scores, std::int64_t row, std::int64_t keys) {
  __m512 largest[4] = {_mm512_set1_ps(-HUGE_VALF), _mm512_set1_ps(-HUGE_VALF),
                       _mm512_set1_ps(-HUGE_VALF), _mm512_set1_ps(-HUGE_VALF)};
  for (std::int64_t k = 0; k < keys; k += 2, scores += 2 * row) {
    // The second operand is taken where either is not a number.
    largest[0] = _mm512_max_ps(_mm512_loadu_ps(scores), largest[0]);
    largest[1] = _mm512_max_ps(_mm512_loadu_ps(scores + 16), largest[1]);
    largest[2] = _mm512_max_ps(_mm512_loadu_ps(scores + row), largest[2]);
    largest[3] = _mm512_max_ps(_mm512_loadu_ps(scores + row + 16), largest[3]);
  }
  return {_mm512_max_ps(largest[0], largest[2]), _mm512_max_ps(largest[1], largest[3])};
}

inline void AddSum(const AmxSoftmax& state, std::int64_t column, __m512 sum) {
  const __m512 factor = _mm512_loadu_ps(state.factor + column);
  const __m512 before = _mm512_loadu_ps(state.sum + column);
  _mm512_storeu_ps(state.sum + column, _mm512_fmadd_ps(before, factor, sum));
}

void SoftmaxColumns(const AmxScores& tile, float scale, const AmxSoftmax& state,
                    std::int64_t column, BFloat16* pairs, __mmask16& moved) {
  const float* scores = tile.scores + column;
  const Largest32 largest = LargestScores(scores, tile.row, tile.keys);
  const __m512 factor = _mm512_set1_ps(scale);
  const __m512 taken[2] = {
      MoveReference(_mm512_mul_ps(largest.low, factor), state, column, moved),
      MoveReference(_mm512_mul_ps(largest.high, factor), state, column + 16, moved)};
  __m512 sums[4] = {};
  pairs += 2 * column;
  for (std::int64_t k = 0; k < tile.keys;
       k += 2, scores += 2 * tile.row, pairs += 2 * tile.columns) {
    __m512 powers[4];
    for (int i = 0; i < 4; ++i) {
      const __m512 score = _mm512_loadu_ps(scores + (i / 2) * tile.row + (i % 2) * 16);
      powers[i] = ShortPowerOfTwo(_mm512_fmsub_ps(score, factor, taken[i % 2]));
      sums[i] = _mm512_add_ps(sums[i], powers[i]);
    }
    StorePairs(pairs, Interleaved(Rounded(powers[0], powers[2])));
    StorePairs(pairs + 32, Interleaved(Rounded(powers[1], powers[3])));
  }
  AddSum(state, column, _mm512_add_ps(sums[0], sums[2]));
  AddSum(state, column + 16, _mm512_add_ps(sums[1], sums[3]));
}

}  // namespace

bool AmxSoftmaxStep(const AmxScores& tile, float scale, const AmxSoftmax& state, BFloat16* pairs) {
  __mmask16 moved = 0;
  for (std::int64_t c = 0; c < tile.columns; c += 32) {
    SoftmaxColumns(tile, scale, state, c, pairs, moved);
  }
  return moved != 0;
}

}  // namespace frugal::simd
