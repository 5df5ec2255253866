#pragma once

#include <cstdint>

#include "sdk/backend/onednn/simd/amx/panel_product.h"

// These functions pack what a convolution as a product of panels (panel_product.h) reads, and write
// its results, for a processor of which HasAmxBf16() is true.
namespace frugal::simd {

// Places of the window that are packed at a time, one in each lane of a vector.
inline constexpr std::int64_t kPointsAtOnce = 16;

// Up to 32 rows and 32 columns of an f32 weight at up to kPointsAtOnce of the window's places, all
// `places` of which lie side by side: the i-th of element (r, c) at data[r * row + c * column + i].
// Either row or column is `places`.
struct PlacedBlock {
  const float* data;
  std::int64_t row, column, rows, columns, places, taken;
};
// A block of a right panel for each place taken, at to[i]: pairs of rows [16][32 columns][2], with
// zeros for what is not there.
void PackRightBlocks(const PlacedBlock& from, BFloat16* const* to);

// Left panels of rows that lie anywhere, `width` elements of each; nullptr for a row of zeros. The
// panel of the next 32 rows begins `step` elements behind.
struct LeftRows {
  const BFloat16* const* rows;
  std::int64_t count, width;
};
void GatherLeftPanels(const LeftRows& from, std::int64_t step, BFloat16* to);

// Rows of y, which may lie anywhere, from sums [columns / 32][sum_rows][32]: y = sums + bias, then
// max(y, 0) where `relu`; bias may be null.
struct SummedRows {
  const float* sums;
  std::int64_t sum_rows, count, columns;
  const float* bias;
  bool relu;
  BFloat16* const* rows;
};
void WriteSummedRows(const SummedRows& from);

}  // namespace frugal::simd
