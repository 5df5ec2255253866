#pragma once

#include <cstdint>

namespace frugal::onednn {

// Returns the bytes of a weight's packed bf16 copy, which PackDescription writes.
std::int64_t PackedWeightBytes(std::int64_t inputs, std::int64_t outputs);

// True where that copy lies in the tiles of simd/amx/weight_tiles.h.
bool IsPackedInTiles(std::int64_t inputs, std::int64_t outputs);

}  // namespace frugal::onednn
