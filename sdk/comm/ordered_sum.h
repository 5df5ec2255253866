#pragma once

#include <cstdint>
#include <span>

#include "sdk/core/dtype.h"

namespace frugal {

// Adds up elements [begin, begin + count) of `sources` in their order, ((s0 + s1) + s2) + ..., and
// writes the sums to the same elements of every one of `targets`, which may be sources too. f32 and
// bf16 are summed in f32, f64 in f64. Runs on the calling thread's team.
void SumInOrder(std::span<const void* const> sources, std::span<void* const> targets,
                std::int64_t begin, std::int64_t count, DType dtype);

}  // namespace frugal
