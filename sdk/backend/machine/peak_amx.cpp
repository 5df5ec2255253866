#include "sdk/backend/machine/peak_loops.h"
#include "sdk/backend/onednn/simd/amx/amx_tiles.h"

namespace frugal {
namespace {

constexpr int kDotChains = 24;

volatile int two_halves = 0x3f003f00;  // bf16; compilers cannot know what it is

float AddDots(std::int64_t rounds) {
  const auto halves = reinterpret_cast<__m512bh>(_mm512_set1_epi32(two_halves));
  __m512 sums[kDotChains];
#pragma GCC unroll 24
  for (int i = 0; i < kDotChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < kDotChains; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], halves, halves);
  }
  __m512 all = _mm512_setzero_ps();
#pragma GCC unroll 24
  for (int i = 0; i < kDotChains; ++i) all = _mm512_add_ps(all, sums[i]);
  return _mm512_cvtss_f32(all);
}

// A product of tiles takes 52 cycles, and one may begin every 16: six are enough.
float MultiplyTiles(std::int64_t rounds) {
  alignas(64) int halves[16 * 16];
  for (int& pair : halves) pair = two_halves;
  alignas(64) float sums[16 * 16];
  const simd::AmxSession session;
  simd::Fence();
  simd::ZeroSums();
  _tile_zero(4);
  _tile_zero(5);
  _tile_loadd(6, halves, 64);
  _tile_loadd(7, halves, 64);
  for (std::int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  _tile_stored(0, sums, 64);
  simd::Fence();
  return sums[0];
}

}  // namespace

ChainLoop Bf16DotLoop() { return {AddDots, 2.0 * kDotChains * 32}; }
ChainLoop Bf16TileLoop() { return {MultiplyTiles, 2.0 * 6 * 16 * 16 * 32}; }

}  // namespace frugal
