#include <cmath>
#include <numbers>

#include "sdk/backend/onednn/attention/amx_attention.h"

namespace frugal::onednn {

using simd::kAmxBlock;

AmxBackwardTiles::AmxBackwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch)
    : inputs_(inputs),
      width_(inputs.plan.padded_head),
      padded_keys_(PaddedKeys(inputs.geometry)),
      keys_(scratch.TakeHalves(padded_keys_ * width_)),
      values_(scratch.TakeHalves(padded_keys_ * width_)),
      transposed_keys_(scratch.TakeHalves(padded_keys_ * width_)),
      rows_(scratch.TakeHalves(kBackwardQueries * width_)),
      transposed_queries_(scratch.TakeHalves(kBackwardQueries * width_)),
      transposed_gradients_(scratch.TakeHalves(kBackwardQueries * width_)),
      query_rows_(scratch.TakeHalves(kBackwardQueries * width_)),
      gradient_rows_(scratch.TakeHalves(kBackwardQueries * width_)),
      probabilities_(scratch.TakeHalves(kAmxKeys * kBackwardQueries)),
      slope_rows_(scratch.TakeHalves(kAmxKeys * kBackwardQueries)),
      slope_pairs_(scratch.TakeHalves(kAmxKeys * kBackwardQueries)),
      scores_(scratch.Take(kAmxBlock * kAmxBlock)),
      slopes_(scratch.Take(kAmxBlock * kAmxBlock)),
      query_sums_(scratch.Take(width_ * kBackwardQueries)),
      log_sum_exp_(scratch.Take(kBackwardQueries)),
      delta_(scratch.Take(kBackwardQueries)),
      scale_(scratch.Take(kBackwardQueries)) {}

void AmxBackwardTiles::RunTask(std::int64_t task, const BackwardInputs& given, const HeadsView& dq,
                               const KeySums& sums) {
  const simd::AmxSession session;
  const AttentionGeometry& g = inputs_.geometry;
  const AttentionPlan& plan = inputs_.plan;
  std::fill_n(sums.keys, padded_keys_ * width_, 0.0f);
  std::fill_n(sums.values, padded_keys_ * width_, 0.0f);
  std::fill_n(scale_, kBackwardQueries, static_cast<float>(g.scale));
  LoadKeys(task / plan.chunks);
  for (std::int64_t item = task % plan.chunks; item < plan.Items(); item += plan.chunks) {
    const QueryTile tile = plan.Tile(g, task, item);
    const std::int64_t end = SeenKeys(g, tile);
    LoadTile(tile, given);
    ScheduleBackwardPrefetch(inputs_, {task, item}, (end + kAmxBlock - 1) / kAmxBlock, given, dq,
                             upcoming_);
    for (std::int64_t key = 0; key < end; key += kAmxKeys) {
      AddKeys(tile, key, WholeGroups(std::min(kAmxKeys, end - key), kAmxBlock), sums);
    }
    const auto to = RowsOf<BFloat16>(dq, batch_, tile.head, g.head_size);
    simd::WriteTransposed({query_sums_, kBackwardQueries, scale_, tile.count, g.head_size,
                           to.at(tile.first), to.row});
  }
}

void AmxBackwardTiles::LoadKeys(std::int64_t key_head) {
  const AttentionGeometry& g = inputs_.geometry;
  const std::int64_t head = key_head % g.key_heads;
  batch_ = key_head / g.key_heads;
  const auto keys = RowsOf<BFloat16>(inputs_.k, batch_, head, g.head_size);
  const auto values = RowsOf<BFloat16>(inputs_.v, batch_, head, g.head_size);
  simd::CopyPadded({keys.data, keys.row, g.key_length, g.head_size}, padded_keys_, width_, keys_);
  simd::CopyPadded({values.data, values.row, g.key_length, g.head_size}, padded_keys_, width_,
                   values_);
  simd::TransposeMatrix({keys_, width_, padded_keys_, width_}, transposed_keys_, padded_keys_);
}

void AmxBackwardTiles::LoadTile(const QueryTile& tile, const BackwardInputs& given) {
  const AttentionGeometry& g = inputs_.geometry;
  const auto rows_of = [&](const HeadsView& view) {
    const auto rows = RowsOf<BFloat16>(view, batch_, tile.head, g.head_size);
    return simd::AmxRows{rows.at(tile.first), rows.row, tile.count, g.head_size};
  };
  const auto load = [&](const simd::AmxRows& from, BFloat16* transposed, BFloat16* pairs) {
    simd::CopyPadded(from, tile.columns, width_, rows_);
    const simd::AmxRows padded{rows_, width_, tile.columns, width_};
    simd::PairColumns(padded, transposed);
    simd::PairRows(padded, pairs);
  };
  load(rows_of(inputs_.q), transposed_queries_, query_rows_);
  load(rows_of({given.dy, 0}), transposed_gradients_, gradient_rows_);
  std::fill_n(query_sums_, width_ * kBackwardQueries, 0.0f);
  std::fill_n(log_sum_exp_, kBackwardQueries, 0.0f);
  std::fill_n(delta_, kBackwardQueries, 0.0f);
  simd::DotRows(rows_of({given.dy, 0}), rows_of({given.y, 0}), delta_);
  const float* const sums = given.log_sum_exp.data<float>() +
                            (batch_ * g.heads + tile.head) * g.query_length + tile.first;
  for (std::int64_t c = 0; c < tile.count; ++c) {
    // Every probability of a query that saw no key becomes 2^(-infinity).
    log_sum_exp_[c] = std::numbers::log2e_v<float> * (std::isinf(sums[c]) ? -sums[c] : sums[c]);
  }
}

// The first column that sees key `first`, rounded down to whole blocks.
std::int64_t AmxBackwardTiles::FirstColumn(const QueryTile& tile, std::int64_t first) const {
  const AttentionGeometry& g = inputs_.geometry;
  if (!g.causal) return 0;
  const std::int64_t hidden = first - (tile.first + g.key_length - g.query_length);
  return hidden <= 0 ? 0 : hidden - hidden % kAmxBlock;
}

void AmxBackwardTiles::AddKeys(const QueryTile& tile, std::int64_t first, std::int64_t count,
                               const KeySums& sums) {
  for (std::int64_t key = first; key < first + count; key += kAmxBlock) {
    const std::int64_t column = FirstColumn(tile, key), at = (key - first) * kBackwardQueries;
    upcoming_.Step();
    for (std::int64_t c = column; c < tile.columns; c += kAmxBlock) {
      ComputeBlock(tile, key, c, at);
    }
    AddToKeys(tile, key, column, at, sums);
  }
  for (std::int64_t c = 0; c < tile.columns; c += kAmxBlock) {
    std::int64_t depth = count;
    while (depth > 0 && FirstColumn(tile, first + depth - kAmxBlock) > c) depth -= kAmxBlock;
    simd::MultiplyMatrices({.a = transposed_keys_ + first,
                            .a_row = padded_keys_,
                            .b = slope_pairs_ + 2 * c,
                            .b_row = kBackwardQueries,
                            .c = query_sums_ + c,
                            .c_row = kBackwardQueries,
                            .rows = width_,
                            .columns = kAmxBlock,
                            .depth = depth,
                            .accumulate = true});
  }
}

// Probabilities and slopes of 32 keys and columns; `at` is where those of the keys lie.
void AmxBackwardTiles::ComputeBlock(const QueryTile& tile, std::int64_t key, std::int64_t column,
                                    std::int64_t at) {
  const auto multiply = [&](const BFloat16* rows, const BFloat16* transposed, float* to) {
    simd::MultiplyMatrices({rows + key * width_, width_, transposed + 2 * column, tile.columns, to,
                            kAmxBlock, kAmxBlock, kAmxBlock, width_, false});
  };
  multiply(keys_, transposed_queries_, scores_);
  multiply(values_, transposed_gradients_, slopes_);
  const simd::AmxScores scores{scores_, kAmxBlock, kAmxBlock, kAmxBlock};
  const std::int64_t queries = std::min(kAmxBlock, tile.count - column);
  const float scale =
      CompleteScores(inputs_, {scores, batch_, tile.head, tile.first + column, queries, key});
  simd::AmxSoftmaxGradient(
      scores, scale,
      {slopes_, log_sum_exp_ + column, delta_ + column, probabilities_ + at + column,
       slope_rows_ + at + column, slope_pairs_ + at + 2 * column, kBackwardQueries});
}

// Each query of the tile from `column` on adds p dy to dv and slope q to dk.
void AmxBackwardTiles::AddToKeys(const QueryTile& tile, std::int64_t key, std::int64_t column,
                                 std::int64_t at, const KeySums& sums) {
  const auto multiply = [&](const BFloat16* factors, const BFloat16* rows, float* to) {
    simd::MultiplyMatrices({factors + at + column, kBackwardQueries, rows + column * width_, width_,
                            to + key * width_, width_, kAmxBlock, width_, tile.columns - column,
                            true});
  };
  multiply(probabilities_, gradient_rows_, sums.values);
  multiply(slope_rows_, query_rows_, sums.keys);
}

}  // namespace frugal::onednn
