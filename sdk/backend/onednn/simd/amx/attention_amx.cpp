#include "sdk/backend/onednn/simd/amx/attention_amx.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sdk/backend/onednn/simd/amx/amx_tiles.h"
#include "sdk/backend/onednn/simd/amx/amx_vectors.h"

namespace frugal::simd {

namespace {

// Returns the pairs of rows r and r + 1 at columns c to c + 31.
inline TwoPairs PairsAt(const AmxRows& from, std::int64_t r, std::int64_t c) {
  const BFloat16* const even = from.data + r * from.row + c;
  return Paired(LoadPairs(even), LoadPairs(even + from.row));
}

}  // namespace

void CopyPadded(const AmxRows& from, std::int64_t padded_count, std::int64_t padded_width,
                BFloat16* to) {
  for (std::int64_t r = 0; r < from.count; ++r, to += padded_width) {
    const BFloat16* const row = from.data + r * from.row;
    for (std::int64_t c = 0; c < padded_width; c += 32) {
      const __mmask32 inside = c < from.width ? FirstOf32(from.width - c) : 0;
      StorePairs(to + c, _mm512_maskz_loadu_epi16(inside, row + c));
    }
  }
  std::fill_n(to, (padded_count - from.count) * padded_width, BFloat16());
}

void PairColumns(const AmxRows& from, BFloat16* to) {
  for (std::int64_t r = 0; r < from.count; r += 16) {
    for (std::int64_t c = 0; c < from.width; c += 32) {
      __m512i square[16];
      for (int i = 0; i < 16; ++i) square[i] = LoadPairs(from.data + (r + i) * from.row + c);
      TransposeWords(square);
      for (int i = 0; i < 16; ++i) StorePairs(to + 2 * ((c / 2 + i) * from.count + r), square[i]);
    }
  }
}

void PairRows(const AmxRows& from, BFloat16* to) {
  for (std::int64_t r = 0; r < from.count; r += 2, to += 2 * from.width) {
    for (std::int64_t c = 0; c < from.width; c += 32) {
      const TwoPairs pairs = PairsAt(from, r, c);
      StorePairs(to + 2 * c, pairs.low);
      StorePairs(to + 2 * c + 32, pairs.high);
    }
  }
}

void TransposeMatrix(const AmxRows& from, BFloat16* to, std::int64_t to_row) {
  for (std::int64_t r = 0; r < from.count; r += 32) {
    for (std::int64_t c = 0; c < from.width; c += 32) {
      __m512i low[16], high[16];
      for (int i = 0; i < 16; ++i) {
        const TwoPairs pairs = PairsAt(from, r + 2 * i, c);
        low[i] = pairs.low;
        high[i] = pairs.high;
      }
      TransposeWords(low);
      TransposeWords(high);
      for (int i = 0; i < 16; ++i) {
        StorePairs(to + (c + i) * to_row + r, low[i]);
        StorePairs(to + (c + 16 + i) * to_row + r, high[i]);
      }
    }
  }
}

AmxSession::AmxSession() : control_(_mm_getcsr()) {
  constexpr unsigned int kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  // Not on the stack: g++ 12 takes the instruction to read only the first 8 bytes.
  static constexpr TileConfiguration kConfiguration;
  _tile_loadconfig(&kConfiguration);
  _mm_setcsr(control_ | kFlushToZero | kDenormalsAreZero);
}

AmxSession::~AmxSession() {
  _mm_setcsr(control_);
  _tile_release();
}

void MultiplyMatrices(const AmxProduct& p) {
  Fence();
  for (std::int64_t r = 0; r < p.rows; r += kAmxBlock) {
    for (std::int64_t c = 0; c < p.columns; c += kAmxBlock) {
      MultiplyBlock(p, p.a + r * p.a_row, kAmxBlock, p.b + 2 * c, p.c + r * p.c_row + c,
                    [](std::int64_t) {});
    }
  }
}

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
