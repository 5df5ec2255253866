#pragma once

#include <cstdint>

#include "sdk/core/bfloat16.h"

// The packed layout of a weight that oneDNN's matmul asks for on processors with matrix tiles (its
// tag BA16a64b2a): tiles of 32 inputs by 64 outputs, [outputs / 64][inputs / 32][16][64][2], in
// which a pair holds inputs 2i and 2i + 1 of an output; zeros for what is not there. For a
// processor of which HasAvx512Bf16() is true.
namespace frugal::simd {

inline constexpr std::int64_t kTileInputs = 32;
inline constexpr std::int64_t kTileOutputs = 64;
inline constexpr std::int64_t kTileSize = kTileInputs * kTileOutputs;

// Up to 32 inputs and 64 outputs of an f32 weight whose rows begin `row` apart. The tile begins at
// a multiple of 64 bytes.
struct WeightPart {
  const float* data;
  std::int64_t row, inputs, outputs;
};
void PackTileOutIn(const WeightPart& from, BFloat16* tile);  // rows of inputs
void PackTileInOut(const WeightPart& from, BFloat16* tile);  // rows of outputs
// Other threads see the tiles that this one has packed; they were written past the caches.
void FinishTiles();

// The left panel (see panel_product.h) of 32 inputs and `outputs` rows, a multiple of 32, that
// begins with the tile given; the tile of the next 64 outputs lies `step` elements behind.
void UnpackTiles(const BFloat16* tile, std::int64_t step, std::int64_t outputs, BFloat16* panel);

// Tiles of the transpose, in which inputs and outputs change places: of 64 inputs, `outputs` rows
// of 32 each, [outputs / 32][16][64][2]. The inputs' two tiles lie one behind the other from `tile`
// on; the second may be missing.
void TransposeTiles(const BFloat16* tile, std::int64_t step, bool has_second, std::int64_t outputs,
                    BFloat16* transposed);

}  // namespace frugal::simd
