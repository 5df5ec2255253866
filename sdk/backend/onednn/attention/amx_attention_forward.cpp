#include <cmath>
#include <limits>
#include <numbers>

#include "sdk/backend/onednn/attention/amx_attention.h"

namespace frugal::onednn {

AmxForwardTiles::AmxForwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch)
    : inputs_(inputs),
      width_(inputs.plan.padded_head),
      padded_keys_(WholeGroups(inputs.geometry.key_length, simd::kAmxBlock)),
      keys_(scratch.TakeHalves(padded_keys_ * width_)),
      transposed_values_(scratch.TakeHalves(padded_keys_ * width_)),
      rows_(scratch.TakeHalves(simd::kAmxBlock * width_)),
      queries_(scratch.TakeHalves(width_ * kForwardQueries)),
      probabilities_(scratch.TakeHalves(kAmxKeys * kForwardQueries)),
      scores_(scratch.Take(kAmxKeys * kForwardQueries)),
      output_(scratch.Take(width_ * kForwardQueries)),
      state_{scratch.Take(kForwardQueries), scratch.Take(kForwardQueries),
             scratch.Take(kForwardQueries)} {}

void AmxForwardTiles::RunTask(std::int64_t task, const Tensor& y, const Tensor& log_sum_exp) {
  const simd::AmxSession session;
  const AttentionPlan& plan = inputs_.plan;
  LoadKeys(task / plan.chunks);
  for (std::int64_t item = task % plan.chunks; item < plan.Items(); item += plan.chunks) {
    const QueryTile tile = plan.Tile(inputs_.geometry, task, item);
    const std::int64_t end = SeenKeys(inputs_.geometry, tile);
    ScheduleForwardPrefetch(inputs_, {task, item}, 3 * (end + kAmxKeys - 1) / kAmxKeys, y,
                            upcoming_);
    Start(tile);
    for (std::int64_t key = 0; key < end; key += kAmxKeys) {
      AddKeys(tile, key, WholeGroups(std::min(kAmxKeys, end - key), simd::kAmxBlock));
    }
    Finish(tile, y, log_sum_exp);
  }
}

void AmxForwardTiles::LoadKeys(std::int64_t key_head) {
  const AttentionGeometry& g = inputs_.geometry;
  const std::int64_t head = key_head % g.key_heads;
  batch_ = key_head / g.key_heads;
  const auto keys = RowsOf<BFloat16>(inputs_.k, batch_, head, g.head_size);
  simd::CopyPadded({keys.data, keys.row, g.key_length, g.head_size}, padded_keys_, width_, keys_);
  const auto values = RowsOf<BFloat16>(inputs_.v, batch_, head, g.head_size);
  for (std::int64_t key = 0; key < g.key_length; key += simd::kAmxBlock) {
    const std::int64_t count = std::min(simd::kAmxBlock, g.key_length - key);
    simd::CopyPadded({values.at(key), values.row, count, g.head_size}, simd::kAmxBlock, width_,
                     rows_);
    simd::TransposeMatrix({rows_, width_, simd::kAmxBlock, width_}, transposed_values_ + key,
                          padded_keys_);
  }
}

void AmxForwardTiles::Start(const QueryTile& tile) {
  const std::int64_t head_size = inputs_.geometry.head_size;
  const auto q = RowsOf<BFloat16>(inputs_.q, batch_, tile.head, head_size);
  simd::CopyPadded({q.at(tile.first), q.row, tile.count, head_size}, kForwardQueries, width_,
                   rows_);
  simd::PairColumns({rows_, width_, kForwardQueries, width_}, queries_);
  std::fill_n(output_, width_ * kForwardQueries, 0.0f);
  std::fill_n(state_.sum, kForwardQueries, 0.0f);
  std::fill_n(state_.reference, kForwardQueries, -std::numeric_limits<float>::infinity());
}

// output += v^T 2^(scores - reference)
void AmxForwardTiles::AddKeys(const QueryTile& tile, std::int64_t first, std::int64_t count) {
  const simd::AmxScores scores{scores_, kForwardQueries, count, kForwardQueries};
  upcoming_.Step();
  simd::MultiplyMatrices({.a = keys_ + first * width_,
                          .a_row = width_,
                          .b = queries_,
                          .b_row = kForwardQueries,
                          .c = scores_,
                          .c_row = kForwardQueries,
                          .rows = count,
                          .columns = kForwardQueries,
                          .depth = width_,
                          .accumulate = false});
  const float scale =
      CompleteScores(inputs_, {scores, batch_, tile.head, tile.first, tile.count, first});
  upcoming_.Step();
  if (simd::AmxSoftmaxStep(scores, scale, state_, probabilities_)) {
    simd::ScaleAmxColumns(state_.factor, width_, kForwardQueries, output_);
  }
  upcoming_.Step();
  simd::MultiplyMatrices({.a = transposed_values_ + first,
                          .a_row = padded_keys_,
                          .b = probabilities_,
                          .b_row = kForwardQueries,
                          .c = output_,
                          .c_row = kForwardQueries,
                          .rows = width_,
                          .columns = kForwardQueries,
                          .depth = count,
                          .accumulate = true});
}

void AmxForwardTiles::Finish(const QueryTile& tile, const Tensor& y, const Tensor& log_sum_exp) {
  const AttentionGeometry& g = inputs_.geometry;
  float* const sums =
      log_sum_exp.data<float>() + (batch_ * g.heads + tile.head) * g.query_length + tile.first;
  for (std::int64_t c = 0; c < kForwardQueries; ++c) {
    const float sum = state_.sum[c];
    state_.factor[c] = sum == 0 ? 0.0f : 1 / sum;  // a query that sees no key gets zeros
    if (c >= tile.count) continue;
    sums[c] = sum == 0 ? state_.reference[c]
                       : std::numbers::ln2_v<float> * (state_.reference[c] + std::log2(sum));
  }
  const auto to = RowsOf<BFloat16>({y, 0}, batch_, tile.head, g.head_size);
  simd::WriteTransposed({output_, kForwardQueries, state_.factor, tile.count, g.head_size,
                         to.at(tile.first), to.row});
}

}  // namespace frugal::onednn
