#pragma once

#include <cstdint>

#include "sdk/backend/onednn/simd/amx/amx_session.h"

// Products of two matrices of bf16 rows summed over the rows, on matrix tiles, for a processor of
// which HasAmxBf16() is true.
//
// A panel is 32 columns of some rows, copied together in blocks of 32 rows that fill 2 KB each,
// with zeros for the rows and columns that are not there. The left factor of a product lies
// transposed in it, [rows / 32][32 columns][32 rows]; the right one as pairs of rows, [rows / 2][32
// columns][2].
namespace frugal::simd {

constexpr std::int64_t WholeBlocks(std::int64_t count) {
  return (count + kAmxBlock - 1) / kAmxBlock;
}
// Filled up to whole blocks.
constexpr std::int64_t Whole(std::int64_t count) { return WholeBlocks(count) * kAmxBlock; }
// Elements of a panel.
constexpr std::int64_t PanelSize(std::int64_t rows) {
  return WholeBlocks(rows) * kAmxBlock * kAmxBlock;
}

// All panels of some rows, one behind the other.
void PackLeftPanels(const AmxRows& from, BFloat16* to);
void PackRightPanels(const AmxRows& from, BFloat16* to);
// Right panels of the transpose: a panel is 32 rows, its rows are the columns.
void PackTransposedPanels(const AmxRows& from, BFloat16* to);
// A right panel of rows that lie anywhere: elements `first` to first + width, up to 32, of each;
// nullptr for a row of zeros.
struct GatheredRows {
  const BFloat16* const* rows;
  std::int64_t count, first, width;
};
void GatherRightPanel(const GatheredRows& from, BFloat16* to);

// sums[c] = or += sum over `rows` rows of each of `columns` columns of panels; in a AmxSession.
struct PanelSums {
  const BFloat16* panels;
  std::int64_t rows, columns;
  float* sums;
  bool accumulate;
};
void SumLeftPanels(const PanelSums& panels);
void SumRightPanels(const PanelSums& panels);

// c [rows, columns] = or += left^T right, over `depth` rows of panels that lie one behind the
// other; in a AmxSession. Each left panel meets all right ones in turn.
struct PanelProduct {
  const BFloat16* left;
  const BFloat16* right;
  std::int64_t depth;
  float* c;
  std::int64_t c_row, rows, columns;
  bool accumulate;
  AmxRows soon{};  // what the caller reads next, in whole cache lines: comes nearer meanwhile
  bool right_passes = false;  // the first cache by, so that 512 rows of a left panel stay there
};
void MultiplyPanels(const PanelProduct& product);

}  // namespace frugal::simd
