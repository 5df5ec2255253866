#pragma once

#include <cstdint>

#include "sdk/backend/onednn/simd/amx/amx_session.h"

// Products of bf16 rows with a weight in tiles (weight_tiles.h), added up in f32 and rounded to
// bf16 rows, on matrix tiles, for a processor of which HasAmxBf16() is true.
namespace frugal::simd {

// Lines of 64 bytes that come nearer meanwhile, so many in each step of 32 x 32 x 32 products.
struct LinesAhead {
  static constexpr std::int64_t kLine = 32;

  const BFloat16* at = nullptr;
  std::int64_t lines = 0;

  void Step() {
    for (std::int64_t i = 0; i < lines; ++i, at += kLine) __builtin_prefetch(at, 0, 2);
  }
  void Skip(std::int64_t steps) { at += steps * lines * kLine; }
};

// y [rows, columns] = a weight + bias + residual, then max(y, 0) where `relu`. Rows of y and of the
// residual begin `row` apart. Up to 32 rows of a are read in whole blocks of 32 x 32, of which what
// is not there must be finite.
struct PackedGemm {
  const BFloat16* a;
  std::int64_t a_row;
  const BFloat16* tiles;  // [columns / 64][depth / 32][16][64][2]
  std::int64_t rows, depth, columns;
  const float* bias;         // or nullptr
  const BFloat16* residual;  // or nullptr
  bool relu;
  BFloat16* y;
  std::int64_t row;
  float* sums;  // scratch for RowSums(columns) floats
  LinesAhead soon_rows, soon_tiles;
};
constexpr std::int64_t RowSums(std::int64_t columns) {
  constexpr std::int64_t kBlock = kAmxBlock * kAmxBlock;
  return kBlock + (columns + kAmxBlock - 1) / kAmxBlock * kBlock;
}
void MultiplyRows(PackedGemm& product);  // in a AmxSession; moves what is ahead on

}  // namespace frugal::simd
