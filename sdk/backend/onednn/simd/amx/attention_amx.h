#pragma once

#include "sdk/backend/onednn/simd/amx/amx_session.h"

// Loops of bf16 attention on matrix tiles, for a processor of which HasAmxBf16() is true.
//
// As in attention_loops.h a tile of scores lies transposed, [keys, queries], so that maxima and
// sums are taken lane by lane, and it is in units of ln 2. Rows, columns and depth of every product
// come in blocks of 32; what is added to fill them up is zero.
//
// The right factor of a product wants pairs: element [depth / 2][columns][2] holds rows 2i and
// 2i + 1 of it. "Pairs of rows" below is that form, `row` of it counted in pairs.
namespace frugal::simd {

// Multiplies as AmxProduct says.
void MultiplyMatrices(const AmxProduct& product);

// to [padded_count, padded_width] = from, then zeros
void CopyPadded(const AmxRows& from, std::int64_t padded_count, std::int64_t padded_width,
                BFloat16* to);
// The next three take count and width in blocks.
// Pairs of rows of the transpose: to [width / 2][count][2]
void PairColumns(const AmxRows& from, BFloat16* to);
// Pairs of rows: to [count / 2][width][2]
void PairRows(const AmxRows& from, BFloat16* to);
// to [width, to_row] with `count` elements per row
void TransposeMatrix(const AmxRows& from, BFloat16* to, std::int64_t to_row);

// Scores [keys, columns] in blocks, rows `row` apart.
struct AmxScores {
  float* scores;
  std::int64_t row, keys, columns;
};

// Scores of key k become -infinity in the columns before k + shift, and in all columns from key
// `seen` on.
void HideKeys(const AmxScores& tile, std::int64_t shift, std::int64_t seen);

// A mask's rows of the tile's columns, in one of two types or none; `row` apart.
struct AmxMask {
  const float* floats = nullptr;
  const BFloat16* halves = nullptr;
  std::int64_t row = 0, columns = 0, keys = 0;
};
// scores = scale scores + the mask in units of ln 2; nothing is added outside of the mask.
void AddMask(const AmxScores& tile, float scale, const AmxMask& mask);

// Holds what is known of each query's softmax after some keys: the sum of 2^(score - reference).
struct AmxSoftmax {
  float* reference;  // -infinity where no key was seen
  float* sum;
  float* factor;  // what the last step multiplies earlier sums with
};
// pairs [keys / 2][columns][2] = 2^(scale score - reference), which are added to the sums. The
// reference moves only where a score exceeds it by more than 8; true where any earlier sum has to
// be multiplied by `factor`.
bool AmxSoftmaxStep(const AmxScores& tile, float scale, const AmxSoftmax& state, BFloat16* pairs);
void ScaleAmxColumns(const float* factor, std::int64_t rows, std::int64_t columns, float* x);

// Holds the slopes of the output's gradient along scores, laid out like these, and where
// AmxSoftmaxGradient writes what it makes of both: probabilities
// p = 2^(scale score - log_sum_exp[column]) and slopes p (slope - delta[column]).
struct AmxSlopes {
  const float* slopes;
  const float* log_sum_exp;
  const float* delta;
  BFloat16* probabilities;  // [keys, to_row]
  BFloat16* rows;           // slopes, [keys, to_row]
  BFloat16* pairs;          // slopes, pairs of rows [keys / 2, to_row]
  std::int64_t to_row;
};
void AmxSoftmaxGradient(const AmxScores& tile, float scale, const AmxSlopes& slopes);

// sums[r] of the products of row r of a and of b
void DotRows(const AmxRows& a, const AmxRows& b, float* sums);

// to[c][r] = factor[c] from[r][c] for r < width, c < count; from [width in blocks, row]
struct TransposedRows {
  const float* from;
  std::int64_t row;
  const float* factor;
  std::int64_t count, width;
  BFloat16* to;
  std::int64_t to_row;
};
void WriteTransposed(const TransposedRows& rows);

// to = factor from, [count, width]
struct RoundedRows {
  const float* from;
  std::int64_t from_row, count, width;
  float factor;
  BFloat16* to;
  std::int64_t to_row;
};
void WriteRounded(const RoundedRows& rows);

}  // namespace frugal::simd
