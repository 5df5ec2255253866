#pragma once

#include "sdk/backend/onednn/attention/attention_prefetch.h"
#include "sdk/backend/onednn/attention/score_tiles.h"

namespace frugal::onednn {

class ForwardTiles {
 public:
  ForwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch);

  void RunTask(std::int64_t task, const Tensor& y, const Tensor& log_sum_exp);

 private:
  void Start(const QueryTile& tile);
  void AddKeys(const QueryTile& tile, const KeyStep& step);
  void Finish(const QueryTile& tile, const Tensor& y, const Tensor& log_sum_exp);

  const AttentionInputs& inputs_;
  ScoreTiles tiles_;
  float* output_;  // [d, kQueryTile]
  simd::SoftmaxState state_;
  RowPrefetcher upcoming_;
};

}  // namespace frugal::onednn
