#include "sdk/backend/onednn/attention_prefetch.h"

namespace frugal::onednn {

void RowPrefetcher::Add(const simd::MatrixRows& rows, bool to_write) {
  if (rows.count <= 0 || count_ == rows_.size()) return;
  rows_[count_++] = {rows, (rows.count + steps_ - 1) / steps_, to_write};
}

void RowPrefetcher::Step() {
  for (std::size_t i = 0; i < count_; ++i) {
    Rows& rows = rows_[i];
    simd::MatrixRows piece = rows.left;
    piece.count = std::min(rows.per_step, rows.left.count);
    simd::PrefetchRows(piece, rows.to_write);
    rows.left.data += piece.count * piece.row;
    rows.left.count -= piece.count;
  }
}

simd::MatrixRows RowsOfTile(const AttentionInputs& inputs, const HeadsView& view, std::int64_t task,
                            std::int64_t item) {
  const AttentionGeometry& g = inputs.geometry;
  if (task >= inputs.plan.Tasks()) return {};
  const QueryTile tile = inputs.plan.Tile(g, task, item);
  const std::int64_t batch = task / inputs.plan.chunks / g.key_heads;
  const auto rows = RowsOf<BFloat16>(view, batch, tile.head, g.head_size);
  return {rows.at(tile.first), rows.row, tile.count, g.head_size};
}

simd::MatrixRows RowsOfKeys(const AttentionInputs& inputs, const HeadsView& view, std::int64_t task,
                            std::int64_t item) {
  const AttentionGeometry& g = inputs.geometry;
  const AttentionPlan& plan = inputs.plan;
  if (task >= plan.Tasks()) return {};
  const std::int64_t key_head = task / plan.chunks, parts = plan.Items();
  const auto rows =
      RowsOf<BFloat16>(view, key_head / g.key_heads, key_head % g.key_heads, g.head_size);
  const std::int64_t begin = item * g.key_length / parts, end = (item + 1) * g.key_length / parts;
  return {rows.at(begin), rows.row, end - begin, g.head_size};
}

TaskItem ItemAfter(const AttentionPlan& plan, const TaskItem& now) {
  if (now.item + plan.chunks < plan.Items()) return {now.task, now.item + plan.chunks};
  return {now.task + 1, (now.task + 1) % plan.chunks};
}

}  // namespace frugal::onednn
