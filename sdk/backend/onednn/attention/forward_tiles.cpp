#include "sdk/backend/onednn/attention/forward_tiles.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace frugal::onednn {

using simd::kQueryTile;

ForwardTiles::ForwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch)
    : inputs_(inputs),
      tiles_(inputs, scratch),
      output_(scratch.Take(inputs.geometry.head_size * kQueryTile)),
      state_{scratch.Take(kQueryTile), scratch.Take(kQueryTile), scratch.Take(kQueryTile)} {}

void ForwardTiles::RunTask(std::int64_t task, const Tensor& y, const Tensor& log_sum_exp) {
  const AttentionPlan& plan = inputs_.plan;
  tiles_.BeginTask(task);
  for (std::int64_t item = task % plan.chunks; item < plan.Items(); item += plan.chunks) {
    const QueryTile tile = plan.Tile(inputs_.geometry, task, item);
    const std::int64_t steps = SeenKeys(inputs_.geometry, tile) / kKeyTile;
    ScheduleForwardPrefetch(inputs_, {task, item}, 2 * steps, y, upcoming_);
    Start(tile);
    ForKeySteps(inputs_.geometry, tile, [&](const KeyStep& step) { AddKeys(tile, step); });
    Finish(tile, y, log_sum_exp);
  }
}

void ForwardTiles::Start(const QueryTile& tile) {
  tiles_.LoadQueries(tiles_.TileRows(inputs_.q, tile), tiles_.query_scale(), tile);
  std::fill_n(output_, inputs_.geometry.head_size * kQueryTile, 0.0f);
  std::fill_n(state_.sum, kQueryTile, 0.0f);
  std::fill_n(state_.reference, kQueryTile, -std::numeric_limits<float>::infinity());
}

// output += v^T 2^(scores - reference)
void ForwardTiles::AddKeys(const QueryTile& tile, const KeyStep& step) {
  const std::int64_t first = step.first_column;
  const std::int64_t columns = tile.columns - first;
  const std::int64_t head_size = inputs_.geometry.head_size;
  upcoming_.Step();
  tiles_.Compute(tile, step);
  upcoming_.Step();
  float* const scores = tiles_.scores() + first;
  const bool moved = inputs_.loops.softmax_step(
      {scores, step.count, columns},
      {state_.reference + first, state_.sum + first, state_.factor + first});
  if (moved) {
    inputs_.loops.scale_columns(state_.factor + first, head_size, columns, output_ + first);
  }
  inputs_.loops.product({.a = tiles_.values().at(step.first),
                         .a_row = 1,
                         .a_step = tiles_.values().row,
                         .b = scores,
                         .b_row = kQueryTile,
                         .c = output_ + first,
                         .c_row = kQueryTile,
                         .rows = head_size,
                         .columns = columns,
                         .depth = step.count,
                         .accumulate = true});
}

void ForwardTiles::Finish(const QueryTile& tile, const Tensor& y, const Tensor& log_sum_exp) {
  const AttentionGeometry& g = inputs_.geometry;
  float* const sums = log_sum_exp.data<float>() +
                      (tiles_.batch() * g.heads + tile.head) * g.query_length + tile.first;
  for (std::int64_t c = 0; c < tile.columns; ++c) {
    const float sum = state_.sum[c];
    state_.factor[c] = sum == 0 ? 0.0f : 1 / sum;  // a query that sees no key gets zeros
    if (c >= tile.count) continue;
    sums[c] = sum == 0 ? state_.reference[c]
                       : std::numbers::ln2_v<float> * (state_.reference[c] + std::log2(sum));
  }
  inputs_.loops.scale_columns(state_.factor, g.head_size, tile.columns, output_);
  tiles_.WriteTransposed(output_, 1.0f, tile, {y, 0});
}

}  // namespace frugal::onednn
