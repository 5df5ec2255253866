#include "sdk/backend/onednn/attention/attention_plan.h"

namespace frugal::onednn {
namespace {

std::int64_t DivideUp(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
}  // namespace

std::int64_t WholeGroups(std::int64_t count, std::int64_t group) {
  return DivideUp(count, group) * group;
}

AttentionPlan::AttentionPlan(const AttentionGeometry& g, std::int64_t queries_per_tile,
                             std::int64_t column_group)
    : tile_queries(queries_per_tile),
      columns_together(column_group),
      group(g.key_heads == 0 ? 0 : g.heads / g.key_heads),
      query_tiles(DivideUp(g.query_length, tile_queries)),
      key_heads(g.batch * g.key_heads),
      padded_head(WholeGroups(g.head_size, column_group)) {
  if (key_heads == 0 || Items() == 0) return;
  chunks = std::min(Items(), DivideUp(kWantedTasks, key_heads));
  packs = Items() / chunks >= kTilesWorthPacking;
}

QueryTile AttentionPlan::Tile(const AttentionGeometry& g, std::int64_t task,
                              std::int64_t item) const {
  const std::int64_t key_head = task / chunks % g.key_heads;
  const std::int64_t first = item % query_tiles * tile_queries;
  const std::int64_t count = std::min(tile_queries, g.query_length - first);
  return {key_head * group + item / query_tiles, first, count,
          WholeGroups(count, columns_together)};
}

std::int64_t SeenKeys(const AttentionGeometry& g, const QueryTile& tile) {
  if (!g.causal) return g.key_length;
  return std::min(g.key_length, tile.first + tile.count + g.key_length - g.query_length);
}

}  // namespace frugal::onednn
