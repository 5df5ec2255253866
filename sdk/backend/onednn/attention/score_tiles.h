#pragma once

#include "sdk/backend/onednn/attention/attention_prefetch.h"

// The work of one thread on tiles of attention in f32. Tensors of bf16 are converted as tiles are
// read and written.
namespace frugal::onednn {

// Positions [first, first + count) of a head as floats: as they lie, or in `converted`
// [count, head_size] where they are bf16.
HeadRows FloatRows(const HeadsView& view, std::int64_t batch, std::int64_t head,
                   std::int64_t head_size, const RowRange& range, float* converted);

HeadRows Floats(const RowsOfType<BFloat16>& rows, const RowRange& range, std::int64_t width,
                float* to);
// Positions [first, first + count) of `to` = factor * from [count, width], rounded
void RoundRows(const float* from, std::int64_t from_row, const RowRange& range, std::int64_t width,
               float factor, const RowsOfType<BFloat16>& to);

// Scores of one tile after another, for forward and backward.
class ScoreTiles {
 public:
  ScoreTiles(const AttentionInputs& inputs, BumpAllocator& scratch);

  void BeginTask(std::int64_t task);  // takes up its batch and key head
  // The queries of a tile times query_scale, which are `factor` times the rows given.
  void LoadQueries(const HeadRows& from, float factor, const QueryTile& tile);
  // to[i][c] = factor * from[c][i] for the columns c of a tile, and 0 in those without a query;
  // `from` is [count, width], `to` [width, kQueryTile].
  void LoadColumns(const HeadRows& from, std::int64_t width, float factor, const QueryTile& tile,
                   float* to) const;
  // Rows of a tile, from its first query on.
  HeadRows TileRows(const HeadsView& view, const QueryTile& tile) const;
  // The queries of a tile of `to` = factor * transposed^T, transposed [d, kQueryTile]
  void WriteTransposed(const float* transposed, float factor, const QueryTile& tile,
                       const HeadsView& to) const;
  // scores = scale q k^T + mask, -infinity where hidden, in units of ln 2
  void Compute(const QueryTile& tile, const KeyStep& step);

  std::int64_t batch() const { return batch_; }
  const HeadRows& keys() const { return keys_; }
  const HeadRows& values() const { return values_; }
  float* scores() const { return scores_; }  // [kKeyTile, kQueryTile]
  float query_scale() const { return query_scale_; }

 private:
  HeadRows Gathered(const HeadsView& view, std::int64_t head, float* packed) const;
  void LoadMask(const QueryTile& tile, const KeyStep& step);

  const AttentionInputs& inputs_;
  float query_scale_;
  float* packed_keys_ = nullptr;    // [Tk, d]
  float* packed_values_ = nullptr;  // [Tk, d]
  float* converted_ = nullptr;      // [kQueryTile, d or kKeyTile]: rows of bf16 tensors
  float* queries_;                  // [d, kQueryTile], times query_scale
  float* scores_;
  std::int64_t batch_ = 0;
  HeadRows keys_, values_;
};

}  // namespace frugal::onednn
