#pragma once

#include <cstdint>

// Single-threaded loops of tiled attention, compiled once per instruction set as those of loops.h.
//
// A tile of scores lies transposed, [keys, kQueryTile]: each column is a query. So maxima and sums
// over the keys are taken lane by lane, and keys and values are read as they lie, never transposed.
// Columns come in groups of kColumnGroup; where there are fewer queries, the rest hold zeros.
// Scores are in units of ln 2, since powers of two are cheaper than those of e.
namespace frugal::simd {

inline constexpr std::int64_t kQueryTile = 64;
inline constexpr std::int64_t kColumnGroup = 16;

// c = or += a b; a [rows, depth] has element (r, k) at r * a_row + k * a_step, b [depth, columns]
// and c [rows, columns] have rows that start b_row and c_row apart. `columns` is a multiple of
// kColumnGroup.
struct TileProduct {
  const float* a;
  std::int64_t a_row, a_step;
  const float* b;
  std::int64_t b_row;
  float* c;
  std::int64_t c_row;
  std::int64_t rows, columns, depth;
  bool accumulate;
};

// Scores of `keys` keys and `columns` queries, rows kQueryTile apart.
struct ScoreTile {
  float* scores;
  std::int64_t keys, columns;
};

// Holds what is known of each query's softmax after some keys: the sum of 2^(score - reference).
struct SoftmaxState {
  float* reference;  // -infinity where no key was seen
  float* sum;
  float* factor;  // what the last step multiplies earlier sums with
};

struct AttentionLoops {
  void (*product)(const TileProduct& product);
  // to[c * to_row + r] = factor * from[r * from_row + c] for r < rows, c < columns
  void (*transpose)(const float* from, std::int64_t from_row, std::int64_t rows,
                    std::int64_t columns, float factor, float* to, std::int64_t to_row);
  // Scores of key k become -infinity in the columns before k + shift.
  void (*hide_later_keys)(const ScoreTile& tile, std::int64_t shift);
  // Scores become 2^(score - reference) and are added to the sums. The reference moves only where
  // a score exceeds it by more than 8, which no sum can feel; true where any earlier sum has to be
  // multiplied by `factor`.
  bool (*softmax_step)(const ScoreTile& tile, const SoftmaxState& state);
  // Columns of x [rows, columns], rows kQueryTile apart, times factor [columns].
  void (*scale_columns)(const float* factor, std::int64_t rows, std::int64_t columns, float* x);
  // Scores become probabilities p = 2^(score - log_sum_exp[column]), and `gradients`, laid out as
  // the scores, become p (gradient - delta[column]).
  void (*softmax_gradient)(const ScoreTile& tile, const float* log_sum_exp, const float* delta,
                           float* gradients);
  // sum of a[i] b[i]
  float (*dot)(const float* a, const float* b, std::int64_t count);
};

const AttentionLoops& BaselineAttentionLoops();
const AttentionLoops& Avx2AttentionLoops();
const AttentionLoops& Avx512AttentionLoops();
const AttentionLoops& SelectAttentionLoops();  // the best of them for this processor

}  // namespace frugal::simd
