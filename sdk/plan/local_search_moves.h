#pragma once

#include "sdk/plan/checkpoint_segment.h"

namespace frugal {

// The schedules that have one segment less: where one is dissolved, those within it take its place,
// and its other stages run once less and are kept.
std::vector<CheckpointSegments> WithOneSegmentLess(const CheckpointSegments& segments);

// Those in which one segment, of two stages or more, begins a stage later or ends one earlier.
std::vector<CheckpointSegments> WithOneStageLess(const CheckpointSegments& segments);

// Those in which one segment is cut into two: its stages from the cut on keep their input too, and
// segments inside that were to spare that are no longer needed.
std::vector<CheckpointSegments> WithOneSegmentCut(const CheckpointSegments& segments);

}  // namespace frugal
