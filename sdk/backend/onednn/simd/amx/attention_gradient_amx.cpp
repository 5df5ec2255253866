#include "sdk/backend/onednn/simd/amx/amx_vectors.h"

namespace frugal::simd {
namespace {

struct ColumnParts {
  __m512 log_sum_exp[2], delta[2];
};

// 32 columns of the keys k and k + 1.
inline void SlopesOfPair(const AmxScores& tile, const AmxSlopes& to, __m512 scale,
                         const ColumnParts& parts, std::int64_t k, std::int64_t column) {
  __m512 p[4], slopes[4];
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = (k + i / 2) * tile.row + column + i % 2 * 16;
    const __m512 score = _mm512_loadu_ps(tile.scores + at);
    p[i] = ShortPowerOfTwo(_mm512_fmsub_ps(score, scale, parts.log_sum_exp[i % 2]));
    const __m512 slope = _mm512_loadu_ps(to.slopes + at);
    slopes[i] = _mm512_mul_ps(p[i], _mm512_sub_ps(slope, parts.delta[i % 2]));
  }
  const std::int64_t at = k * to.to_row + column;
  StorePairs(to.probabilities + at, Rounded(p[0], p[1]));
  StorePairs(to.probabilities + at + to.to_row, Rounded(p[2], p[3]));
  StorePairs(to.rows + at, Rounded(slopes[0], slopes[1]));
  StorePairs(to.rows + at + to.to_row, Rounded(slopes[2], slopes[3]));
  BFloat16* const pairs = to.pairs + k * to.to_row + 2 * column;
  StorePairs(pairs, Interleaved(Rounded(slopes[0], slopes[2])));
  StorePairs(pairs + 32, Interleaved(Rounded(slopes[1], slopes[3])));
}

}  // namespace

void AmxSoftmaxGradient(const AmxScores& tile, float scale, const AmxSlopes& to) {
  const __m512 factor = _mm512_set1_ps(scale);
  for (std::int64_t column = 0; column < tile.columns; column += 32) {
    ColumnParts parts;
    for (int i = 0; i < 2; ++i) {
      parts.log_sum_exp[i] = _mm512_loadu_ps(to.log_sum_exp + column + 16 * i);
      parts.delta[i] = _mm512_loadu_ps(to.delta + column + 16 * i);
    }
    for (std::int64_t k = 0; k < tile.keys; k += 2) {
      SlopesOfPair(tile, to, factor, parts, k, column);
    }
  }
}

}  // namespace frugal::simd
