#pragma once

#include "sdk/backend/onednn/attention/attention_prefetch.h"
#include "sdk/backend/onednn/attention/score_tiles.h"

namespace frugal::onednn {

// dk / key_factor and dv of one key head, summed over some query tiles: [Tk, padded head] each,
// with Tk in whole groups as the heads.
struct KeySums {
  static std::int64_t Elements(const AttentionGeometry& g, const AttentionPlan& plan) {
    return 2 * WholeGroups(g.key_length, plan.columns_together) * plan.padded_head;
  }

  float* keys;
  float* values;
};
KeySums KeySumsAt(const AttentionInputs& inputs, float* memory, std::int64_t slot);

class BackwardTiles {
 public:
  BackwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch);

  void RunTask(std::int64_t task, const BackwardInputs& given, const HeadsView& dq,
               const KeySums& sums);

 private:
  void LoadTile(const QueryTile& tile, const BackwardInputs& given);
  void AddKeys(const QueryTile& tile, const KeyStep& step, const KeySums& sums);

  const AttentionInputs& inputs_;
  ScoreTiles tiles_;
  float* transposed_gradients_;  // dy, [d, kQueryTile]
  float* score_gradients_;       // as the scores
  float* query_rows_;            // [kQueryTile, padded head], times query_scale
  float* gradient_rows_;         // dy, [kQueryTile, padded head]
  float* query_sums_;            // dq / scale, [d, kQueryTile]
  float* log_sum_exp_;           // [kQueryTile], in units of ln 2
  float* delta_;                 // [kQueryTile], sum of dy y
  RowPrefetcher upcoming_;
};

// dk and dv at positions [begin, end) of a key head, from the sums in slots [slot, slot + count).
// Sums for bf16 tensors are added up in the first slot.
struct KeyRange {
  std::int64_t key_head, begin, end;
};
struct KeyGradients {
  HeadsView dk, dv;
  float key_factor;
  decltype(&RoundRows) round = RoundRows;
};
void WriteKeyGradients(const AttentionInputs& inputs, const KeyRange& range, float* memory,
                       std::int64_t slot, std::int64_t count, const KeyGradients& gradients);

}  // namespace frugal::onednn
