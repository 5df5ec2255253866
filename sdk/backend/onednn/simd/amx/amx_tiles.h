#pragma once

#include <immintrin.h>

#include <atomic>
#include <cstdint>

#include "sdk/backend/onednn/simd/amx/amx_session.h"

// Products of blocks of 32 x 32 by matrix tiles (Intel 64 Architectures Software Developer's
// Manual, volume 1, chapter 18): two by two tiles of sums, so that each tile that is loaded serves
// two products. A tile is 16 rows of 64 bytes.
namespace frugal::simd {
namespace {

struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Tile loads are opaque to compilers, which would move the stores that they read behind them.
inline void Fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

// The sums of a block of 32 x 32, in tiles 0 to 3; rows lie `row` bytes apart.
inline void ZeroSums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}
inline void LoadSums(const float* sums, std::int64_t row) {
  const float* const lower = sums + 4 * row;
  _tile_loadd(0, sums, row);
  _tile_loadd(1, sums + 16, row);
  _tile_loadd(2, lower, row);
  _tile_loadd(3, lower + 16, row);
}
inline void StoreSums(float* sums, std::int64_t row) {
  float* const lower = sums + 4 * row;
  _tile_stored(0, sums, row);
  _tile_stored(1, sums + 16, row);
  _tile_stored(2, lower, row);
  _tile_stored(3, lower + 16, row);
}

// Adds the product of two blocks of 32 x 32, whose rows lie so many bytes apart. Where kPasses, b
// passes the first cache by.
template <bool kPasses>
void AddProduct(const BFloat16* a, std::int64_t a_row, const BFloat16* b, std::int64_t b_row) {
  _tile_loadd(4, a, a_row);
  if constexpr (kPasses) {
    _tile_stream_loadd(6, b, b_row);
    _tile_stream_loadd(7, b + 32, b_row);
  } else {
    _tile_loadd(6, b, b_row);
    _tile_loadd(7, b + 32, b_row);
  }
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(5, a + 8 * a_row, a_row);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

// Element [0, k + 32] of `a` lies a_step behind [0, k]; `between` is called with each k.
template <bool kPasses = false, class Between>
void MultiplyBlock(const AmxProduct& p, const BFloat16* a, std::int64_t a_step, const BFloat16* b,
                   float* c, const Between& between) {
  p.accumulate ? LoadSums(c, p.c_row * 4) : ZeroSums();
  for (std::int64_t k = 0; k < p.depth; k += 32, a += a_step, b += 32 * p.b_row) {
    between(k);
    AddProduct<kPasses>(a, p.a_row * 2, b, p.b_row * 4);
  }
  StoreSums(c, p.c_row * 4);
}

}  // namespace
}  // namespace frugal::simd
