#pragma once

#include "sdk/plan/checkpoint_segment.h"

namespace frugal {

// Schedules that know only how many stages there are.

// Each run of `length` stages is a segment; with `keep_last`, the last run is kept.
CheckpointSegments EveryN(std::size_t stages, std::size_t length, bool keep_last);

// Segments of sqrt(n) stages (Chen et al., "Training Deep Nets with Sublinear Memory Cost",
// arXiv:1604.06174).
CheckpointSegments SqrtN(std::size_t stages, bool keep_last);

// The binomial schedule with `snapshots` >= 1 inputs kept at a time, the first one included
// (Griewank and Walther, "Algorithm 799: Revolve", ACM TOMS 26(1), 2000): the fewest forward steps
// for a chain of equal stages of which only one is kept whole.
CheckpointSegments Binomial(std::size_t stages, std::size_t snapshots);

}  // namespace frugal
