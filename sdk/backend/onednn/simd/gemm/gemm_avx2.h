#pragma once

#include <cstdint>

// The inner parts of a product of f32 matrices for processors with AVX2 and FMA: panels of both
// factors are packed one behind the other, and tiles of 6 by 16 are summed in registers (Goto & van
// de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008). Compiled
// for AVX2: whoever calls asks the processor first (gemm/blocked_gemm.h).
namespace frugal::simd::avx2 {

inline constexpr std::int64_t kPanelRows = 6, kPanelColumns = 16;

// A factor whose element (i, j) is data[i * row + j * column]; one of both steps is 1.
struct Factor {
  const float* data;
  std::int64_t row, column;

  Factor At(std::int64_t i, std::int64_t j) const {
    return {data + i * row + j * column, row, column};
  }
};

// Writes from [rows, depth] as panels [depth, kPanelRows], zeros where the last has fewer rows, and
// up to kPackedBehind numbers behind them.
void PackLeft(const Factor& from, std::int64_t rows, std::int64_t depth, float* to);
inline constexpr std::int64_t kPackedBehind = 2;

// Writes from [depth, columns] as one panel [depth, kPanelColumns], zeros where it has fewer
// columns.
void PackRight(const Factor& from, std::int64_t depth, std::int64_t columns, float* to);

// c = left right + addend + bias, for the columns of one panel.
struct PanelProduct {
  const float* left;   // panels as PackLeft writes them
  const float* right;  // a panel as PackRight writes it
  std::int64_t depth, rows, columns;
  float* c;
  const float* addend;  // null, or of the same shape as c, which it may be
  std::int64_t row;     // from one row of c and of addend to the next
  const float* bias;    // null, or a number for each column
  // Lines of memory that are asked for meanwhile: they are needed next.
  struct {
    const float* at;
    std::int64_t step, count;
  } next;
};
void MultiplyPanel(const PanelProduct& product);

}  // namespace frugal::simd::avx2
