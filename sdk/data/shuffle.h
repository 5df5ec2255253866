#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace frugal {

// The order in which an epoch visits its samples: 0, 1, ..., count-1, or with `shuffle` a uniformly
// random permutation of them that depends on (count, seed, epoch) only: not on earlier epochs, the
// platform or the standard library. So a resumed run continues in the order of the first.
//
// Fisher-Yates (D. E. Knuth, The Art of Computer Programming, vol. 2, 3.4.2, algorithm P), on the
// random words of the stream (seed, "shuffle", epoch) of sdk/core/random.h, 64 bits per step.

// Throws UsageError for a negative count or epoch.
std::vector<std::int64_t> EpochOrder(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                     bool shuffle);

// Writes the same order into memory of the caller; the count is order.size().
void FillEpochOrder(std::span<std::int64_t> order, std::uint64_t seed, std::int64_t epoch,
                    bool shuffle);

}  // namespace frugal
