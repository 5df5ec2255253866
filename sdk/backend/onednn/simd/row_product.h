#pragma once

#include <cstdint>

#include "sdk/backend/onednn/simd/attention_matrix.h"

// Products of bf16 rows with a weight in tiles (weight_tiles.h), added up in f32 and rounded to
// bf16 rows, on matrix tiles, for a processor of which HasAmxBf16() is true.
namespace frugal::simd {

// Blocks of 32 x 32 elements, [rows / 32][columns / 32][32][32], with zeros for what is not there.
void PackRowBlocks(const MatrixRows& from, BFloat16* to);

// y [rows, columns] = a weight + bias + residual, then max(y, 0) where `relu`. Rows of y and of the
// residual begin `row` apart. Behind each block's product the one before is written.
struct RowProduct {
  const BFloat16* a;      // row blocks of [rows, depth]
  const BFloat16* tiles;  // [columns / 64][depth / 32][16][64][2]
  std::int64_t rows, depth, columns;
  const float* bias;         // or nullptr
  const BFloat16* residual;  // or nullptr
  bool relu;
  BFloat16* y;
  std::int64_t row;
};
void MultiplyRows(const RowProduct& product);  // in a MatrixSession

}  // namespace frugal::simd
