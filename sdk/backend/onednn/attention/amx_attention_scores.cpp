#include <numbers>

#include "sdk/backend/onednn/attention/amx_attention.h"

namespace frugal::onednn {
namespace {

simd::AmxMask MaskOf(const AttentionInputs& inputs, const AmxScoreBlock& block) {
  const Tensor& mask = inputs.mask;
  if (!mask) return {};
  simd::AmxMask rows{.columns = block.queries,
                     .keys = inputs.geometry.key_length - block.first_key};
  if (mask.dtype() == DType::kBF16) {
    const auto from = MaskRows<BFloat16>(mask, block.batch, block.head);
    rows.halves = from.at(block.first_query) + block.first_key;
    rows.row = from.row;
  } else {
    const auto from = MaskRows(mask, block.batch, block.head);
    rows.floats = from.at(block.first_query) + block.first_key;
    rows.row = from.row;
  }
  return rows;
}

}  // namespace

float CompleteScores(const AttentionInputs& inputs, const AmxScoreBlock& block) {
  const AttentionGeometry& g = inputs.geometry;
  const auto scale = static_cast<float>(g.scale * std::numbers::log2e);
  // After a factor that is not positive, the largest product would not be the largest score, nor
  // would -infinity stay what it is.
  const bool scales_here = inputs.mask || !(scale > 0);
  if (scales_here) simd::AddMask(block.scores, scale, MaskOf(inputs, block));
  const std::int64_t keys = block.scores.keys, seen = g.key_length - block.first_key;
  const std::int64_t diagonal = block.first_query + g.key_length - g.query_length;
  const std::int64_t shift = g.causal ? block.first_key - diagonal : -keys;
  if (keys + shift > 1 || seen < keys) simd::HideKeys(block.scores, shift, seen);
  return scales_here ? 1.0f : scale;
}

void RoundRowsAtOnce(const float* from, std::int64_t from_row, const RowRange& range,
                     std::int64_t width, float factor, const RowsOfType<BFloat16>& to) {
  simd::WriteRounded({from, from_row, range.count, width, factor, to.at(range.first), to.row});
}

}  // namespace frugal::onednn
