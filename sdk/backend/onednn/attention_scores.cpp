#include <numbers>

#include "sdk/backend/onednn/attention_tiles.h"

namespace frugal::onednn {

using simd::kQueryTile;

ScoreTiles::ScoreTiles(const AttentionInputs& inputs, Carver& carver)
    : inputs_(inputs),
      query_scale_(static_cast<float>(inputs.geometry.scale * std::numbers::log2e)) {
  const AttentionGeometry& g = inputs.geometry;
  if (inputs.plan.packs) {
    packed_keys_ = carver.Take(g.key_length * g.head_size);
    packed_values_ = carver.Take(g.key_length * g.head_size);
  }
  queries_ = carver.Take(g.head_size * kQueryTile);
  scores_ = carver.Take(kKeyTile * kQueryTile);
}

void ScoreTiles::BeginTask(std::int64_t task) {
  const AttentionGeometry& g = inputs_.geometry;
  const std::int64_t key_head = task / inputs_.plan.chunks;
  batch_ = key_head / g.key_heads;
  const std::int64_t head = key_head % g.key_heads;
  keys_ = Gathered(RowsOf(inputs_.k, batch_, head, g.head_size), packed_keys_);
  values_ = Gathered(RowsOf(inputs_.v, batch_, head, g.head_size), packed_values_);
}

HeadRows ScoreTiles::Gathered(const HeadRows& rows, float* packed) const {
  const AttentionGeometry& g = inputs_.geometry;
  if (packed == nullptr || rows.row == g.head_size) return rows;
  for (std::int64_t t = 0; t < g.key_length; ++t) {
    std::copy_n(rows.at(t), g.head_size, packed + t * g.head_size);
  }
  return {packed, g.head_size};
}

void ScoreTiles::LoadColumns(const HeadRows& from, std::int64_t width, float factor,
                             const QueryTile& tile, float* to) const {
  inputs_.loops.transpose(from.data, from.row, tile.count, width, factor, to, kQueryTile);
  if (tile.count == tile.columns) return;
  for (std::int64_t i = 0; i < width; ++i) {
    std::fill(to + i * kQueryTile + tile.count, to + i * kQueryTile + tile.columns, 0.0f);
  }
}

void ScoreTiles::LoadQueries(const HeadRows& from, float factor, const QueryTile& tile) {
  LoadColumns(from, inputs_.geometry.head_size, factor, tile, queries_);
}

void ScoreTiles::Compute(const QueryTile& tile, const KeyStep& step) {
  const HeadRows mask = MaskRows(inputs_.mask, batch_, tile.head);
  if (mask.data != nullptr) {
    LoadColumns({mask.at(tile.first) + step.first, mask.row}, step.count,
                static_cast<float>(std::numbers::log2e), tile, scores_);
  }
  float* const scores = scores_ + step.first_column;
  const std::int64_t columns = tile.columns - step.first_column;
  inputs_.loops.product({.a = keys_.at(step.first),
                         .a_row = keys_.row,
                         .a_step = 1,
                         .b = queries_ + step.first_column,
                         .b_row = kQueryTile,
                         .c = scores,
                         .c_row = kQueryTile,
                         .rows = step.count,
                         .columns = columns,
                         .depth = inputs_.geometry.head_size,
                         .accumulate = mask.data != nullptr});
  if (step.cut) inputs_.loops.hide_later_keys({scores, step.count, columns}, step.shift);
}

}  // namespace frugal::onednn
