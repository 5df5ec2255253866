#include "sdk/backend/onednn/attention/backward_tiles.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace frugal::onednn {
namespace {

using simd::kQueryTile;

// to [count, padded] = factor * the first `width` elements of each row, then zeros
void CopyRows(const HeadRows& from, const QueryTile& tile, std::int64_t width, float factor,
              std::int64_t padded, float* to) {
  for (std::int64_t t = 0; t < tile.count; ++t, to += padded) {
    const float* const row = from.at(t);
    for (std::int64_t i = 0; i < width; ++i) to[i] = factor * row[i];
    std::fill(to + width, to + padded, 0.0f);
  }
}

}  // namespace

KeySums KeySumsAt(const AttentionInputs& inputs, float* memory, std::int64_t slot) {
  const std::int64_t elements = KeySums::Elements(inputs.geometry, inputs.plan);
  float* const keys = memory + slot * elements;
  return {keys, keys + elements / 2};
}

BackwardTiles::BackwardTiles(const AttentionInputs& inputs, BumpAllocator& scratch)
    : inputs_(inputs),
      tiles_(inputs, scratch),
      transposed_gradients_(scratch.Take(inputs.geometry.head_size * kQueryTile)),
      score_gradients_(scratch.Take(kKeyTile * kQueryTile)),
      query_rows_(scratch.Take(kQueryTile * inputs.plan.padded_head)),
      gradient_rows_(scratch.Take(kQueryTile * inputs.plan.padded_head)),
      query_sums_(scratch.Take(inputs.geometry.head_size * kQueryTile)),
      log_sum_exp_(scratch.Take(kQueryTile)),
      delta_(scratch.Take(kQueryTile)) {}

void BackwardTiles::RunTask(std::int64_t task, const BackwardInputs& given, const HeadsView& dq,
                            const KeySums& sums) {
  const AttentionGeometry& g = inputs_.geometry;
  const AttentionPlan& plan = inputs_.plan;
  std::fill_n(sums.keys, g.key_length * plan.padded_head, 0.0f);
  std::fill_n(sums.values, g.key_length * plan.padded_head, 0.0f);
  tiles_.BeginTask(task);
  for (std::int64_t item = task % plan.chunks; item < plan.Items(); item += plan.chunks) {
    const QueryTile tile = plan.Tile(g, task, item);
    LoadTile(tile, given);
    ScheduleBackwardPrefetch(inputs_, {task, item}, 3 * SeenKeys(g, tile) / kKeyTile, given, dq,
                             upcoming_);
    ForKeySteps(g, tile, [&](const KeyStep& step) { AddKeys(tile, step, sums); });
    tiles_.WriteTransposed(query_sums_, static_cast<float>(g.scale), tile, dq);
  }
}

void BackwardTiles::LoadTile(const QueryTile& tile, const BackwardInputs& given) {
  const AttentionGeometry& g = inputs_.geometry;
  const std::int64_t width = g.head_size, padded = inputs_.plan.padded_head;
  // One after the other: rows of bf16 are converted to one place.
  CopyRows(tiles_.TileRows(inputs_.q, tile), tile, width, tiles_.query_scale(), padded,
           query_rows_);
  CopyRows(tiles_.TileRows({given.dy, 0}, tile), tile, width, 1.0f, padded, gradient_rows_);
  const HeadRows y = tiles_.TileRows({given.y, 0}, tile);
  tiles_.LoadQueries({query_rows_, padded}, 1.0f, tile);
  tiles_.LoadColumns({gradient_rows_, padded}, width, 1.0f, tile, transposed_gradients_);
  std::fill_n(query_sums_, width * kQueryTile, 0.0f);
  std::fill_n(log_sum_exp_, kQueryTile, 0.0f);
  std::fill_n(delta_, kQueryTile, 0.0f);
  const float* const sums = given.log_sum_exp.data<float>() +
                            (tiles_.batch() * g.heads + tile.head) * g.query_length + tile.first;
  for (std::int64_t c = 0; c < tile.count; ++c) {
    // Every probability of a query that saw no key becomes 2^(-infinity).
    log_sum_exp_[c] = std::numbers::log2e_v<float> * (std::isinf(sums[c]) ? -sums[c] : sums[c]);
    delta_[c] = inputs_.loops.dot(gradient_rows_ + c * padded, y.at(c), width);
  }
}

void BackwardTiles::AddKeys(const QueryTile& tile, const KeyStep& step, const KeySums& sums) {
  const std::int64_t width = inputs_.geometry.head_size, padded = inputs_.plan.padded_head;
  const std::int64_t first = step.first_column, columns = tile.columns - first;
  const auto& loops = inputs_.loops;
  float* const probabilities = tiles_.scores() + first;
  float* const slopes = score_gradients_ + first;
  upcoming_.Step();
  tiles_.Compute(tile, step);
  const HeadRows& values = tiles_.values();
  upcoming_.Step();
  loops.product({values.at(step.first), values.row, 1, transposed_gradients_ + first, kQueryTile,
                 slopes, kQueryTile, step.count, columns, width, false});
  loops.softmax_gradient({probabilities, step.count, columns}, log_sum_exp_ + first, delta_ + first,
                         slopes);
  upcoming_.Step();
  // Each query of the tile adds p dy to dv and slope q to dk.
  const std::int64_t queries = tile.count - first, at = step.first * padded;
  loops.product({probabilities, kQueryTile, 1, gradient_rows_ + first * padded, padded,
                 sums.values + at, padded, step.count, padded, queries, true});
  loops.product({slopes, kQueryTile, 1, query_rows_ + first * padded, padded, sums.keys + at,
                 padded, step.count, padded, queries, true});
  const HeadRows& keys = tiles_.keys();
  loops.product({keys.at(step.first), 1, keys.row, slopes, kQueryTile, query_sums_ + first,
                 kQueryTile, width, columns, step.count, true});
}

namespace {

// Some rows of dk or dv in the first slot; those of the next lie slot_elements further on.
struct SlotRows {
  float* sum;
  std::int64_t row, slot_elements, slots;
  float factor;
};

void WriteFloats(const SlotRows& from, const KeyRange& range, std::int64_t width,
                 const HeadRows& to) {
  const float* sums = from.sum;
  for (std::int64_t t = range.begin; t < range.end; ++t, sums += from.row) {
    float* const row = to.at(t);
    for (std::int64_t i = 0; i < width; ++i) row[i] = from.factor * sums[i];
    for (std::int64_t s = 1; s < from.slots; ++s) {
      const float* const more = sums + s * from.slot_elements;
      for (std::int64_t i = 0; i < width; ++i) row[i] += from.factor * more[i];
    }
  }
}

// Into the first slot.
void AddSlots(const SlotRows& from, std::int64_t rows) {
  for (std::int64_t s = 1; s < from.slots; ++s) {
    const float* const more = from.sum + s * from.slot_elements;
    for (std::int64_t i = 0; i < rows * from.row; ++i) from.sum[i] += more[i];
  }
}

}  // namespace

void WriteKeyGradients(const AttentionInputs& inputs, const KeyRange& range, float* memory,
                       std::int64_t slot, std::int64_t count, const KeyGradients& gradients) {
  const AttentionGeometry& g = inputs.geometry;
  const std::int64_t padded = inputs.plan.padded_head;
  const std::int64_t batch = range.key_head / g.key_heads, head = range.key_head % g.key_heads;
  const auto write = [&](const HeadsView& to, float* part, float factor) {
    const SlotRows from{part + range.begin * padded, padded, KeySums::Elements(g, inputs.plan),
                        count, factor};
    if (inputs.dtype != DType::kBF16) {
      WriteFloats(from, range, g.head_size, RowsOf(to, batch, head, g.head_size));
      return;
    }
    AddSlots(from, range.end - range.begin);
    gradients.round(from.sum, padded, {range.begin, range.end - range.begin}, g.head_size, factor,
                    RowsOf<BFloat16>(to, batch, head, g.head_size));
  };
  const KeySums sums = KeySumsAt(inputs, memory, slot);
  write(gradients.dk, sums.keys, gradients.key_factor);
  write(gradients.dv, sums.values, 1.0f);
}

}  // namespace frugal::onednn
