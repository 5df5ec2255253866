#pragma once

#include <cmath>

#include "sdk/backend/onednn/simd/attention/attention_loops.h"
#include "sdk/backend/onednn/simd/attention/tile_product.h"
#include "sdk/backend/onednn/simd/vector/row_sum.h"
#include "sdk/backend/onednn/simd/vector/vector.h"
#include "sdk/backend/onednn/simd/vector/vector_math.h"

namespace frugal::simd {
namespace {

inline void TransposeTile(const float* from, std::int64_t from_row, std::int64_t rows,
                          std::int64_t columns, float factor, float* to, std::int64_t to_row) {
  const std::int64_t whole_rows = rows - rows % kLanes, whole_columns = columns - columns % kLanes;
  for (std::int64_t r = 0; r < whole_rows; r += kLanes) {
    for (std::int64_t c = 0; c < whole_columns; c += kLanes) {
      Vector square[kLanes];
      for (std::int64_t i = 0; i < kLanes; ++i) {
        const float* const at = from + (r + i) * from_row + c;
        square[i] = Load(at) * factor;
        __builtin_prefetch(at + kLanes * from_row, 0, 2);  // of the next rows
      }
      Transpose(square);
      for (std::int64_t i = 0; i < kLanes; ++i) Store(to + (c + i) * to_row + r, square[i]);
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c) {
      to[c * to_row + r] = from[r * from_row + c] * factor;
    }
  }
}

inline void HideLaterKeys(const ScoreTile& tile, std::int64_t shift) {
  for (std::int64_t k = 0; k < tile.keys; ++k) {
    const std::int64_t end = k + shift < tile.columns ? k + shift : tile.columns;
    for (std::int64_t c = 0; c < end; ++c) tile.scores[k * kQueryTile + c] = -HUGE_VALF;
  }
}

// body.operator()<v>(column) for blocks of v <= 4 vectors that cover the columns.
template <class Body>
void ForColumns(std::int64_t columns, const Body& body) {
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) body.template operator()<4>(c);
  for (; c < columns; c += kLanes) body.template operator()<1>(c);
}

template <int kVectors>
void LargestScores(const float* scores, std::int64_t keys, Vector (&largest)[kVectors]) {
  for (int v = 0; v < kVectors; ++v) largest[v] = Splat(-HUGE_VALF);
  for (std::int64_t k = 0; k < keys; ++k, scores += kQueryTile) {
    for (int v = 0; v < kVectors; ++v) largest[v] = Largest(Load(scores + v * kLanes), largest[v]);
  }
}

// The reference for the next scores, with which state.factor is set. What is taken off the scores
// is returned: a number also where no key was seen.
inline Vector MoveReference(Vector largest, const SoftmaxState& state, std::int64_t column,
                            IntVector& moved) {
  const Vector none = Splat(-HUGE_VALF);
  const Vector before = Load(state.reference + column);
  const Vector after = largest > before + 8.0f ? largest : before;
  const Vector taken = after == none ? Vector{} : after;
  const IntVector rescales = (after != before) & (before != none);
  Store(state.reference + column, after);
  Store(state.factor + column, rescales ? PowerOfTwo(before - taken) : Splat(1.0f));
  moved |= rescales;
  return taken;
}

template <int kVectors>
void SoftmaxColumns(const ScoreTile& tile, const SoftmaxState& state, std::int64_t column,
                    IntVector& moved) {
  float* scores = tile.scores + column;
  Vector taken[kVectors], sums[kVectors] = {};
  LargestScores<kVectors>(scores, tile.keys, taken);
  for (int v = 0; v < kVectors; ++v) {
    taken[v] = MoveReference(taken[v], state, column + v * kLanes, moved);
  }
  for (std::int64_t k = 0; k < tile.keys; ++k, scores += kQueryTile) {
    for (int v = 0; v < kVectors; ++v) {
      const Vector power = PowerOfTwo(Load(scores + v * kLanes) - taken[v]);
      Store(scores + v * kLanes, power);
      sums[v] += power;
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t c = column + v * kLanes;
    Store(state.sum + c, Load(state.sum + c) * Load(state.factor + c) + sums[v]);
  }
}

inline bool SoftmaxStep(const ScoreTile& tile, const SoftmaxState& state) {
  IntVector moved = {};
  ForColumns(tile.columns, [&]<int kVectors>(std::int64_t column) {
    SoftmaxColumns<kVectors>(tile, state, column, moved);
  });
  for (std::int64_t i = 0; i < kLanes; ++i) {
    if (moved[i] != 0) return true;
  }
  return false;
}

inline void ScaleColumns(const float* factor, std::int64_t rows, std::int64_t columns, float* x) {
  for (std::int64_t r = 0; r < rows; ++r, x += kQueryTile) {
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      Store(x + c, Load(x + c) * Load(factor + c));
    }
  }
}

inline void SoftmaxGradient(const ScoreTile& tile, const float* log_sum_exp, const float* delta,
                            float* gradients) {
  float* scores = tile.scores;
  for (std::int64_t k = 0; k < tile.keys; ++k, scores += kQueryTile, gradients += kQueryTile) {
    for (std::int64_t c = 0; c < tile.columns; c += kLanes) {
      const Vector p = PowerOfTwo(Load(scores + c) - Load(log_sum_exp + c));
      Store(scores + c, p);
      Store(gradients + c, p * (Load(gradients + c) - Load(delta + c)));
    }
  }
}

inline float Dot(const float* a, const float* b, std::int64_t count) {
  return RowSumOf(count, [=]<class V>(std::int64_t i) { return Read<V>(a + i) * Read<V>(b + i); });
}

inline constexpr AttentionLoops kAttentionLoops{
    MultiplyTiles, TransposeTile, HideLaterKeys, SoftmaxStep, ScaleColumns, SoftmaxGradient, Dot};

}  // namespace
}  // namespace frugal::simd
