#pragma once

#include <algorithm>
#include <cstdint>

#include "sdk/backend/attention_kernels.h"
#include "sdk/backend/onednn/simd/attention/attention_loops.h"
#include "sdk/core/bfloat16.h"
#include "sdk/memory/allocator.h"

namespace frugal::onednn {

// Keys of a tile of scores; a tile that the causal rule cuts is done in shorter ones, so that less
// is computed in vain.
inline constexpr std::int64_t kKeyTile = 64;
inline constexpr std::int64_t kCutKeyTile = 16;

// Positions of one head: element i of position t at data[t * row + i].
template <class T>
struct RowsOfType {
  T* data = nullptr;
  std::int64_t row = 0;

  T* at(std::int64_t position) const { return data + position * row; }
};
using HeadRows = RowsOfType<float>;

template <class T = float>
RowsOfType<T> RowsOf(const HeadsView& view, std::int64_t batch, std::int64_t head,
                     std::int64_t head_size) {
  const Shape& shape = view.tensor.shape();  // [B, T, row]
  return {view.tensor.data<T>() + batch * shape[1] * shape[2] + view.offset + head * head_size,
          shape[2]};
}
// The rows of one batch and query head in a mask [1 or B, 1 or H, 1 or Tq, Tk]; one row serves all
// queries.
template <class T = float>
RowsOfType<T> MaskRows(const Tensor& mask, std::int64_t batch, std::int64_t head) {
  const Shape& shape = mask.shape();
  const std::int64_t plane = (shape[0] == 1 ? 0 : batch) * shape[1] + (shape[1] == 1 ? 0 : head);
  return {mask.data<T>() + plane * shape[2] * shape[3], shape[2] == 1 ? 0 : shape[3]};
}

// Queries [first, first + count) of a head, in `columns` columns.
struct QueryTile {
  std::int64_t head, first, count, columns;
};

// Keys [first, first + count) seen by the columns of a query tile from first_column on. Where
// `cut`, key k is hidden from the columns before k + shift (both counted from here).
struct KeyStep {
  std::int64_t first, count, first_column, shift;
  bool cut;
};

// `count` rounded up to a multiple of `group`
std::int64_t WholeGroups(std::int64_t count, std::int64_t group);

// How attention is cut into tasks, from the geometry alone: a task does every `chunks`-th query
// tile of all query heads that share one key head. Those are done in one task, one after another,
// unless there are few key heads.
struct AttentionPlan {
  static constexpr std::int64_t kWantedTasks = 8;
  static constexpr std::int64_t kTilesWorthPacking = 4;

  // Tiles of so many queries, in whole groups of columns; heads are padded to groups too.
  explicit AttentionPlan(const AttentionGeometry& g,
                         std::int64_t queries_per_tile = simd::kQueryTile,
                         std::int64_t column_group = simd::kColumnGroup);

  std::int64_t Items() const { return group * query_tiles; }
  std::int64_t Tasks() const { return key_heads * chunks; }
  QueryTile Tile(const AttentionGeometry& g, std::int64_t task, std::int64_t item) const;

  std::int64_t tile_queries, columns_together;
  std::int64_t group = 1;  // query heads per key head
  std::int64_t query_tiles = 0;
  std::int64_t key_heads = 0;  // of all batches
  std::int64_t chunks = 1;
  std::int64_t padded_head = 0;  // head_size in whole groups of columns
  // True where keys and values are first copied together: where heads lie apart by large powers of
  // two, they would otherwise push each other out of the caches (row 3072: 120 instead of 180
  // GFLOP/s in the products).
  bool packs = false;
};

// Returns the last key that some query of the tile sees, plus one.
std::int64_t SeenKeys(const AttentionGeometry& g, const QueryTile& tile);

// body(step) for the keys that some query of the tile sees, in order.
template <class Body>
void ForKeySteps(const AttentionGeometry& g, const QueryTile& tile, const Body& body) {
  // The tile's first query sees keys up to `diagonal`.
  const std::int64_t diagonal = tile.first + g.key_length - g.query_length;
  const std::int64_t end = g.causal ? std::min(g.key_length, diagonal + tile.count) : g.key_length;
  for (std::int64_t key = 0; key < end;) {
    KeyStep step{key, std::min(kKeyTile, end - key), 0, 0, false};
    if (g.causal && key + step.count - 1 > diagonal) {
      step.cut = true;
      step.count = std::min(kCutKeyTile, end - key);
      const std::int64_t hidden = std::max<std::int64_t>(0, key - diagonal);
      step.first_column = hidden - hidden % simd::kColumnGroup;
      step.shift = key - diagonal - step.first_column;
    }
    body(step);
    key += step.count;
  }
}

// Hands out aligned pieces of scratch; without memory it only counts.
class BumpAllocator {
 public:
  explicit BumpAllocator(void* memory) : memory_(static_cast<float*>(memory)) {}

  float* Take(std::int64_t elements) {
    float* const piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += RoundUpToAlignment(elements * kElementBytes) / kElementBytes;
    return piece;
  }
  BFloat16* TakeHalves(std::int64_t elements) {
    return reinterpret_cast<BFloat16*>(Take((elements + 1) / 2));
  }
  std::int64_t bytes() const { return used_ * kElementBytes; }

 private:
  static constexpr std::int64_t kElementBytes = 4;

  float* memory_;
  std::int64_t used_ = 0;
};

struct RowRange {
  std::int64_t first, count;
};

struct AttentionInputs {
  const AttentionGeometry& geometry;
  const AttentionPlan& plan;
  const simd::AttentionLoops& loops;
  HeadsView q, k, v;
  Tensor mask;
  DType dtype = DType::kF32;  // or kBF16
};

struct BackwardInputs {
  const Tensor& dy;
  const Tensor& y;
  const Tensor& log_sum_exp;
  const HeadsView& dk;  // for whoever wants them in the cache when they are written
  const HeadsView& dv;
};

}  // namespace frugal::onednn
