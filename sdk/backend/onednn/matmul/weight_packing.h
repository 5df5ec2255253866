#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// Rounds an f32 weight into tiles (simd/amx/weight_tiles.h) in one pass at the speed of memory;
// oneDNN's reorder takes 1.5 times as long for [outputs, inputs], 4 times for [inputs, outputs].
// The bits are the same, but for numbers below the smallest normal one, which count as zero here,
// as they do in the products. nullptr where the processor or the packed layout is another.
std::unique_ptr<Operation> MakeWeightPacking(const PackDescription& description);

}  // namespace frugal::onednn
