#pragma once

#include <memory>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// Forward and input gradient of a product with a weight in tiles (simd/amx/weight_tiles.h), on
// matrix tiles. Each thread has a piece of the result for itself: rows pass by, 32 at a time, while
// columns of the weight lie in the second cache, or the other way round where the rows are few;
// results are written behind the computing, and what comes next is fetched. An input gradient
// transposes the tiles first; scratch holds them, as large as the packed weight. Each sum has one
// order, whatever the number of threads. nullptr where the processor has no matrix tiles, the
// packed layout is another, or an activation other than relu is fused.
std::unique_ptr<Operation> MakePackedGemm(const PackedLinearDescription& description);

// Returns true where that operation is faster than oneDNN's inner product: from some rows on, and
// for an input gradient, which transposes the tiles first, from more.
bool PackedGemmPays(const PackedLinearDescription& description);

}  // namespace frugal::onednn
