#include "sdk/backend/onednn/attention_plan.h"

namespace frugal::onednn {
namespace {

std::int64_t DivideUp(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t WholeGroups(std::int64_t columns) {
  return DivideUp(columns, simd::kColumnGroup) * simd::kColumnGroup;
}

}  // namespace

HeadRows RowsOf(const HeadsView& view, std::int64_t batch, std::int64_t head,
                std::int64_t head_size) {
  const Shape& shape = view.tensor.shape();  // [B, T, row]
  return {view.tensor.data<float>() + batch * shape[1] * shape[2] + view.offset + head * head_size,
          shape[2]};
}

HeadRows MaskRows(const Tensor& mask, std::int64_t batch, std::int64_t head) {
  if (!mask) return {};
  const Shape& shape = mask.shape();
  const std::int64_t plane = (shape[0] == 1 ? 0 : batch) * shape[1] + (shape[1] == 1 ? 0 : head);
  return {mask.data<float>() + plane * shape[2] * shape[3], shape[3]};
}

AttentionPlan::AttentionPlan(const AttentionGeometry& g)
    : group(g.key_heads == 0 ? 0 : g.heads / g.key_heads),
      query_tiles(DivideUp(g.query_length, simd::kQueryTile)),
      key_heads(g.batch * g.key_heads),
      padded_head(WholeGroups(g.head_size)) {
  if (key_heads == 0 || Items() == 0) return;
  chunks = std::min(Items(), DivideUp(kWantedTasks, key_heads));
  packs = Items() / chunks >= kTilesWorthPacking;
}

QueryTile AttentionPlan::Tile(const AttentionGeometry& g, std::int64_t task,
                              std::int64_t item) const {
  const std::int64_t key_head = task / chunks % g.key_heads;
  const std::int64_t first = item % query_tiles * simd::kQueryTile;
  const std::int64_t count = std::min(simd::kQueryTile, g.query_length - first);
  return {key_head * group + item / query_tiles, first, count, WholeGroups(count)};
}

}  // namespace frugal::onednn
