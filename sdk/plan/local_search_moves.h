#pragma once

#include <cstdint>
#include <vector>

#include "sdk/plan/checkpoint_segment.h"

namespace frugal {

// Describes a change of one segment of a schedule, with which less runs again.
struct ScheduleMove {
  enum class Kind : std::uint8_t {
    kDissolve,    // those within it take its place, and its other stages run once less and are kept
    kBeginLater,  // it begins a stage later
    kEndEarlier,  // it ends a stage earlier
    kCut,  // it is two: stages from the cut on keep their input too, and segments inside that
           // were to spare that are no longer needed
  };
  std::vector<std::size_t>
      path;  // numbers of the segments that hold it, outermost first, and its own
  Kind kind = Kind::kDissolve;
  std::size_t cut = 0;
};

// Lists all moves: dissolved segments first, then shorter ones, then cuts.
std::vector<ScheduleMove> MovesOf(const CheckpointSegments& segments);

// Returns what takes the place of the segment that a move changes.
CheckpointSegments ReplacementOf(const CheckpointSegment& segment, const ScheduleMove& move);

// Returns the schedule behind the move.
CheckpointSegments Moved(CheckpointSegments segments, const ScheduleMove& move);

}  // namespace frugal
