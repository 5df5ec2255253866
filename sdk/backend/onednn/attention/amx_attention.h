#pragma once

#include "sdk/backend/onednn/attention/backward_tiles.h"
#include "sdk/backend/onednn/simd/amx/attention_amx.h"

// The work of one thread on bf16 attention by matrix tiles. What is read is first copied together
// and padded with zeros to blocks of 32, in the forms that the products want, so that no product
// needs a case of its own at an edge and nothing outside of the tensors is read.
namespace frugal::onednn {

// Forward keeps scores, probabilities and output of a tile in the first cache; backward adds up dk
// and dv in the second, which is done less often with more queries at a time.
inline constexpr std::int64_t kForwardQueries = 32;
inline constexpr std::int64_t kBackwardQueries = 128;
inline constexpr std::int64_t kAmxKeys = 128;  // of a step

inline AttentionPlan AmxForwardPlan(const AttentionGeometry& g) {
  return AttentionPlan(g, kForwardQueries, simd::kAmxBlock);
}
inline AttentionPlan AmxBackwardPlan(const AttentionGeometry& g) {
  return AttentionPlan(g, kBackwardQueries, simd::kAmxBlock);
}

// Products q k^T of some keys and queries of one head.
struct AmxScoreBlock {
  simd::AmxScores scores;
  std::int64_t batch, head, first_query, queries, first_key;
};
// Adds the mask and hides what the causal rule hides, and keys past the last. Returns what the
// scores have still to be multiplied with to be in units of ln 2.
float CompleteScores(const AttentionInputs& inputs, const AmxScoreBlock& block);

// RoundRows, in vectors; rows of `from` lie in whole blocks.
void RoundRowsAtOnce(const float* from, std::int64_t from_row, const RowRange& range,
                     std::int64_t width, float factor, const RowsOfType<BFloat16>& to);

class AmxForwardTiles {
 public:
  AmxForwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch);

  void RunTask(std::int64_t task, const Tensor& y, const Tensor& log_sum_exp);

 private:
  void LoadKeys(std::int64_t key_head);
  void Start(const QueryTile& tile);
  void AddKeys(const QueryTile& tile, std::int64_t first, std::int64_t count);
  void Finish(const QueryTile& tile, const Tensor& y, const Tensor& log_sum_exp);

  const AttentionInputs& inputs_;
  std::int64_t width_;           // padded head
  std::int64_t padded_keys_;     // all of them
  BFloat16* keys_;               // [padded keys, width]
  BFloat16* transposed_values_;  // [width, padded keys]
  BFloat16* rows_;               // [padded keys or queries, width], on the way into another form
  BFloat16* queries_;            // pairs of rows of the transpose, [width / 2, kForwardQueries]
  BFloat16* probabilities_;      // pairs of rows, [kAmxKeys / 2, kForwardQueries]
  float* scores_;                // [kAmxKeys, kForwardQueries]
  float* output_;                // [width, kForwardQueries]
  simd::AmxSoftmax state_;
  std::int64_t batch_ = 0;
  RowPrefetcher upcoming_;
};

class AmxBackwardTiles {
 public:
  AmxBackwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch);

  // `sums` gets dk / scale and dv.
  void RunTask(std::int64_t task, const BackwardInputs& given, const HeadsView& dq,
               const KeySums& sums);

  // Positions that the sums have to have room for.
  static std::int64_t PaddedKeys(const AttentionGeometry& g) {
    return WholeGroups(g.key_length, simd::kAmxBlock);
  }

 private:
  void LoadKeys(std::int64_t key_head);
  void LoadTile(const QueryTile& tile, const BackwardInputs& given);
  void AddKeys(const QueryTile& tile, std::int64_t first, std::int64_t count, const KeySums& sums);
  std::int64_t FirstColumn(const QueryTile& tile, std::int64_t first) const;
  void ComputeBlock(const QueryTile& tile, std::int64_t key, std::int64_t column, std::int64_t at);
  void AddToKeys(const QueryTile& tile, std::int64_t key, std::int64_t column, std::int64_t at,
                 const KeySums& sums);

  const AttentionInputs& inputs_;
  std::int64_t width_, padded_keys_;
  BFloat16* keys_;                // [padded keys, width]
  BFloat16* values_;              // [padded keys, width]
  BFloat16* transposed_keys_;     // [width, padded keys]
  BFloat16* rows_;                // [kBackwardQueries, width], on the way into another form
  BFloat16* transposed_queries_;  // pairs of rows of the transpose, [width / 2, columns]
  BFloat16* transposed_gradients_;
  BFloat16* query_rows_;  // pairs of rows, [columns / 2, width]
  BFloat16* gradient_rows_;
  BFloat16* probabilities_;  // [kAmxKeys, kBackwardQueries]
  BFloat16* slope_rows_;     // the same of the scores' gradients
  BFloat16* slope_pairs_;    // pairs of rows, [kAmxKeys / 2, kBackwardQueries]
  float* scores_;            // [32, 32]
  float* slopes_;            // [32, 32]
  float* query_sums_;        // dq / scale, [width, kBackwardQueries]
  float* log_sum_exp_;       // [kBackwardQueries], in units of ln 2
  float* delta_;             // [kBackwardQueries], sum of dy y
  float* scale_;             // [kBackwardQueries] times the scale
  std::int64_t batch_ = 0;
  RowPrefetcher upcoming_;
};

}  // namespace frugal::onednn
