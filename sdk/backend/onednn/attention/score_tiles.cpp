#include "sdk/backend/onednn/attention/score_tiles.h"

#include <numbers>

namespace frugal::onednn {

HeadRows Floats(const RowsOfType<BFloat16>& rows, const RowRange& range, std::int64_t width,
                float* to) {
  for (std::int64_t t = 0; t < range.count; ++t) {
    const BFloat16* const row = rows.at(range.first + t);
    for (std::int64_t i = 0; i < width; ++i) to[t * width + i] = static_cast<float>(row[i]);
  }
  return {to, width};
}

HeadRows FloatRows(const HeadsView& view, std::int64_t batch, std::int64_t head,
                   std::int64_t head_size, const RowRange& range, float* converted) {
  if (view.tensor.dtype() == DType::kBF16) {
    return Floats(RowsOf<BFloat16>(view, batch, head, head_size), range, head_size, converted);
  }
  const HeadRows rows = RowsOf(view, batch, head, head_size);
  return {rows.at(range.first), rows.row};
}

void RoundRows(const float* from, std::int64_t from_row, const RowRange& range, std::int64_t width,
               float factor, const RowsOfType<BFloat16>& to) {
  for (std::int64_t t = 0; t < range.count; ++t, from += from_row) {
    BFloat16* const row = to.at(range.first + t);
    for (std::int64_t i = 0; i < width; ++i) row[i] = BFloat16(factor * from[i]);
  }
}

using simd::kQueryTile;

ScoreTiles::ScoreTiles(const AttentionInputs& inputs, BumpAllocator& scratch)
    : inputs_(inputs),
      query_scale_(static_cast<float>(inputs.geometry.scale * std::numbers::log2e)) {
  const AttentionGeometry& g = inputs.geometry;
  const bool converts = inputs.dtype == DType::kBF16;
  if (inputs.plan.packs || converts) {
    packed_keys_ = scratch.Take(g.key_length * g.head_size);
    packed_values_ = scratch.Take(g.key_length * g.head_size);
  }
  if (converts) converted_ = scratch.Take(kQueryTile * std::max(g.head_size, kKeyTile));
  queries_ = scratch.Take(g.head_size * kQueryTile);
  scores_ = scratch.Take(kKeyTile * kQueryTile);
}

void ScoreTiles::BeginTask(std::int64_t task) {
  const AttentionGeometry& g = inputs_.geometry;
  const std::int64_t key_head = task / inputs_.plan.chunks;
  batch_ = key_head / g.key_heads;
  const std::int64_t head = key_head % g.key_heads;
  keys_ = Gathered(inputs_.k, head, packed_keys_);
  values_ = Gathered(inputs_.v, head, packed_values_);
}

HeadRows ScoreTiles::Gathered(const HeadsView& view, std::int64_t head, float* packed) const {
  const AttentionGeometry& g = inputs_.geometry;
  const HeadRows rows = FloatRows(view, batch_, head, g.head_size, {0, g.key_length}, packed);
  if (packed == nullptr || rows.data == packed || rows.row == g.head_size) return rows;
  for (std::int64_t t = 0; t < g.key_length; ++t) {
    std::copy_n(rows.at(t), g.head_size, packed + t * g.head_size);
  }
  return {packed, g.head_size};
}

HeadRows ScoreTiles::TileRows(const HeadsView& view, const QueryTile& tile) const {
  return FloatRows(view, batch_, tile.head, inputs_.geometry.head_size, {tile.first, tile.count},
                   converted_);
}

void ScoreTiles::WriteTransposed(const float* transposed, float factor, const QueryTile& tile,
                                 const HeadsView& to) const {
  const std::int64_t width = inputs_.geometry.head_size;
  const auto transpose = [&](float* rows, std::int64_t row) {
    inputs_.loops.transpose(transposed, kQueryTile, width, tile.count, factor, rows, row);
  };
  if (inputs_.dtype != DType::kBF16) {
    const HeadRows rows = RowsOf(to, batch_, tile.head, width);
    transpose(rows.at(tile.first), rows.row);
    return;
  }
  transpose(converted_, width);
  RoundRows(converted_, width, {tile.first, tile.count}, width, 1.0f,
            RowsOf<BFloat16>(to, batch_, tile.head, width));
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

void ScoreTiles::LoadMask(const QueryTile& tile, const KeyStep& step) {
  HeadRows rows;
  if (inputs_.mask.dtype() == DType::kBF16) {
    const auto halves = MaskRows<BFloat16>(inputs_.mask, batch_, tile.head);
    rows = Floats({halves.at(tile.first) + step.first, halves.row}, {0, tile.count}, step.count,
                  converted_);
  } else {
    rows = MaskRows(inputs_.mask, batch_, tile.head);
    rows.data = rows.at(tile.first) + step.first;
  }
  LoadColumns(rows, step.count, static_cast<float>(std::numbers::log2e), tile, scores_);
}

void ScoreTiles::Compute(const QueryTile& tile, const KeyStep& step) {
  if (inputs_.mask) LoadMask(tile, step);
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
                         .accumulate = bool{inputs_.mask}});
  if (step.cut) inputs_.loops.hide_later_keys({scores, step.count, columns}, step.shift);
}

}  // namespace frugal::onednn
