#pragma once

#include "sdk/backend/onednn/simd/attention/attention_loops.h"
#include "sdk/backend/onednn/simd/vector/unroll.h"
#include "sdk/backend/onednn/simd/vector/vector.h"

// Products of tiles that lie in the first two caches: blocks of 6 rows by up to 4 vectors (2 where
// there are only 16 registers) are summed in registers. Attention (`./run bench attention`) and
// Winograd's method (`./run bench convolutions`) are made of them.
namespace frugal::simd {
namespace {

inline constexpr int kBlockRows = 6;
inline constexpr int kBlockVectors = kLanes == 16 ? 4 : 2;

template <int kRows, int kVectors>
void Block(const TileProduct& p, const float* a, const float* b, float* c) {
  Vector sums[kRows][kVectors];
  Unroll<kRows, kVectors>([&]<int r, int v>() { sums[r][v] = Vector{}; });
  for (std::int64_t k = p.depth; k > 0; --k, a += p.a_step, b += p.b_row) {
    Vector right[kVectors];
    Unroll<kVectors>([&]<int v>() { right[v] = Load(b + v * kLanes); });
    Unroll<kRows>([&]<int r>() {
      const Vector left = Splat(a[r * p.a_row]);
      Unroll<kVectors>([&]<int v>() { sums[r][v] += left * right[v]; });
    });
  }
  // Added at the end: sums that started from c would be spilled on their way in.
  if (p.accumulate) {
    Unroll<kRows, kVectors>([&]<int r, int v>() {
      float* const at = c + r * p.c_row + v * kLanes;
      Store(at, Load(at) + sums[r][v]);
    });
    return;
  }
  Unroll<kRows, kVectors>([&]<int r, int v>() { Store(c + r * p.c_row + v * kLanes, sums[r][v]); });
}

template <int kVectors>
void AllRows(const TileProduct& p, std::int64_t column) {
  using Kernel = void (*)(const TileProduct&, const float*, const float*, float*);
  static constexpr Kernel kLast[kBlockRows] = {nullptr,
                                               Block<1, kVectors>,
                                               Block<2, kVectors>,
                                               Block<3, kVectors>,
                                               Block<4, kVectors>,
                                               Block<5, kVectors>};
  const float* const b = p.b + column;
  float* const c = p.c + column;
  std::int64_t r = 0;
  for (; r + kBlockRows <= p.rows; r += kBlockRows) {
    Block<kBlockRows, kVectors>(p, p.a + r * p.a_row, b, c + r * p.c_row);
  }
  if (r < p.rows) kLast[p.rows - r](p, p.a + r * p.a_row, b, c + r * p.c_row);
}

// Columns in blocks of about one width: 5 vectors are 3 and 2.
inline void MultiplyTiles(const TileProduct& p) {
  static constexpr void (*kBlocks[5])(const TileProduct&, std::int64_t) = {
      nullptr, AllRows<1>, AllRows<2>, AllRows < kLanes == 16 ? 3 : 2 >, AllRows<kBlockVectors>};
  std::int64_t left = p.columns / kLanes;
  std::int64_t blocks = (left + kBlockVectors - 1) / kBlockVectors;
  for (std::int64_t column = 0; left > 0; --blocks) {
    const std::int64_t width = (left + blocks - 1) / blocks;
    kBlocks[width](p, column);
    column += width * kLanes;
    left -= width;
  }
}

}  // namespace
}  // namespace frugal::simd
